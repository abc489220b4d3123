// From names and arguments to typed shapes.
#ifndef STEPCAST_TRACE_CLASSIFY_CLASSIFY_H_
#define STEPCAST_TRACE_CLASSIFY_CLASSIFY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/shape.h"
#include "trace/classify/rules.h"
#include "trace/read/arguments.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {

/// How many of the ops around a launch can matter: a kernel of an embedding's
/// backward is five deep (engine, node, autograd function, op, inner op).
inline constexpr size_t kMostLevels = 8;

/// One of the ops around a launch.
struct OpContext {
  std::string_view name;
  const Arguments* arguments = nullptr;  // Null when none were recorded.
};

/// What a trace says about one device event.
struct DeviceFacts {
  std::string_view name;
  DeviceEventKind kind = DeviceEventKind::kKernel;
  int64_t bytes = -1;
  std::string_view grid{};        // "[32, 2, 1]", may be empty.
  std::string_view block{};       // "[128, 1, 1]"
  std::string_view collective{};  // Raw args object, may be empty.
  /// The op of the other pass that shares the autograd sequence number, or the
  /// lookup that belongs to an embedding's backward; no name if unknown.
  OpContext partner{};
  /// Kernels of this name that the innermost op launched, this one included:
  /// long lists of tensors are split over several.
  int64_t siblings = 1;
  int64_t world_size = 0;  // Of the job: the group of a collective that names
                           // none. 0 if unknown.
};

/// The shape of a device event: the family from the kernel's name, the numbers
/// from the ops around its launch, innermost first (`ops` may be empty).
ir::KernelShape ClassifyDevice(const Rules& rules, const DeviceFacts& facts,
                               std::span<const OpContext> ops);

/// The shapes of the kernels that an op launches itself, judged by its name and
/// arguments alone; empty for ops that run on the host only. Whether an op
/// inside it does the work is for the caller to know (trace/link/link.h).
/// `partner` and `world_size` as in DeviceFacts.
std::vector<ir::KernelShape> ClassifyOp(const Rules& rules, const OpContext& op,
                                        const OpContext& partner = {},
                                        int64_t world_size = 0);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_CLASSIFY_CLASSIFY_H_
