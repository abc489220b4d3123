// The recorded arguments of an op, parsed: tensors with shape and type, and
// plain values.
#ifndef STEPCAST_TRACE_READ_ARGUMENTS_H_
#define STEPCAST_TRACE_READ_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/text/string_pool.h"
#include "ir/graph.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {

struct Argument {
  enum class Kind {
    kNone,        // Not given, or of a type the recorder does not show.
    kTensor,      // One entry in tensors.
    kTensorList,  // Any number.
    kInt,         // ints[0]; also bool as 0 or 1.
    kIntList,
    kFloat,
    kString,
  };

  Kind kind = Kind::kNone;
  std::vector<ir::Tensor> tensors{};  // Those not given are left out.
  std::vector<int64_t> ints{};
  double number = 0;
  std::string text{};
};

struct Arguments {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;  // Only execution traces record them.
  /// What the recorder says about a collective: a JSON object with "Collective
  /// name", "In msg nelems", "Group size", ...; empty for other ops.
  std::string collective;

  bool empty() const {
    return inputs.empty() && outputs.empty() && collective.empty();
  }
};

/// Parses what a profiler trace (dims, types, concrete values) or an execution
/// trace (shapes, types, values with tensor and storage ids and devices)
/// recorded. Text that is not as expected yields fewer or kNone arguments,
/// never a failure.
Arguments ParseArguments(const RawArguments& raw, const StringPool& strings);

/// Whether any of the arguments has a tensor on the device.
bool HasTensor(const std::vector<Argument>& arguments, ir::Device device);

/// The tensors of all arguments, in order.
std::vector<ir::Tensor> CopyTensors(const std::vector<Argument>& arguments);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_ARGUMENTS_H_
