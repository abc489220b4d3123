// What the sizer of a family gets to know, and how it reads arguments.
#ifndef STEPCAST_TRACE_CLASSIFY_REQUEST_H_
#define STEPCAST_TRACE_CLASSIFY_REQUEST_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trace/classify/classify.h"

namespace stepcast::trace {

/// An op around the launch with the rule that names its family, if any.
struct RuledOp {
  OpContext op;  // The arguments are never null here.
  const KernelRule* rule = nullptr;

  bool IsFamily(std::string_view family) const {
    return rule != nullptr && rule->family == family;
  }
};

/// One device event (or, for an execution trace, one op) of a known family.
struct SizeRequest {
  const DeviceFacts& facts;      // Without a name when only an op is known.
  std::string_view detail;       // From the rule that gave the family.
  std::span<const RuledOp> ops;  // Innermost first.
};

/// Whether `detail` holds `word`, as in "backward rowwise_adagrad".
bool HasWord(std::string_view detail, std::string_view word);

/// kBackward if the detail says so, otherwise kForward.
ir::Pass PassOf(std::string_view detail);

/// The innermost op of `family`, one with arguments before one without; null if
/// there is none.
const RuledOp* FindOp(const SizeRequest& request, std::string_view family);

/// The innermost op that does work itself: not a view, not a wrapper. Null if
/// there is none.
const RuledOp* FindWorkingOp(const SizeRequest& request);

/// "mm" of "aten::mm", "addmm" of "aten::addmm_"; the name itself otherwise.
std::string_view PlainName(std::string_view op);

/// Results that do not fit, and negative operands, give 0: unknown.
int64_t Product(std::span<const int64_t> numbers);
int64_t Times(int64_t a, int64_t b);
int64_t Plus(int64_t a, int64_t b);

/// The elements of a tensor; 1 for a scalar tensor.
int64_t ElementCount(const ir::Tensor& tensor);
Bytes BytesOf(const ir::Tensor& tensor);

/// The input at `index` if it is one tensor, otherwise null.
const ir::Tensor* TensorAt(const Arguments& arguments, size_t index);
/// The first input, or output, that is one tensor.
const ir::Tensor* FirstTensor(std::span<const Argument> arguments);
/// All single tensors in order.
std::vector<const ir::Tensor*> TensorsOf(std::span<const Argument> arguments);
/// The input at `index` if it is a whole number or a list of them.
std::optional<int64_t> IntAt(const Arguments& arguments, size_t index);
std::optional<std::vector<int64_t>> IntsAt(const Arguments& arguments,
                                           size_t index);

/// The element type that a kernel's name gives as first template argument
/// after `word`: fp32 for "Functor" in "AddFunctor<float, 2>".
ir::DType TypeAfter(std::string_view kernel, std::string_view word);

/// The common shape of tensors under broadcasting; nothing if they do not fit
/// together.
std::optional<std::vector<int64_t>> Broadcast(
    std::span<const ir::Tensor* const> tensors);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_CLASSIFY_REQUEST_H_
