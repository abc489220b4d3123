// An execution trace as read: the operators of an iteration or several with
// their tensors, in PyTorch's own form or as Chakra nodes.
#ifndef STEPCAST_TRACE_READ_EXECUTION_TRACE_H_
#define STEPCAST_TRACE_READ_EXECUTION_TRACE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/text/string_pool.h"
#include "base/units.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {

enum class NodeKind : uint8_t {
  kRoot,        // The process and thread nodes the recorder adds itself.
  kOp,          // An operator.
  kAnnotation,  // A named range (RecordScope USER_SCOPE).
  kDevice,      // A kernel, copy or memset put in by a linker.
};

/// One node. Positions refer to ExecutionTrace::nodes.
struct ExecutionNode {
  static constexpr uint32_t kNoParent = 0xFFFFFFFF;

  int64_t id = -1;  // As in the file; only for messages and conversion.
  StringId name{};
  NodeKind kind = NodeKind::kOp;
  uint32_t parent = kNoParent;  // Position of the parent; roots have none.
  int64_t thread = 0;           // "tid": 1 main, 2 autograd, ...
  int64_t forward_thread = 0;   // "fw_tid"
  int64_t forward_parent = 0;   // "fw_parent", as in the file.
  int64_t record_id = -1;       // "rf_id": order of start.
  int64_t sequence = -1;        // "seq_id"
  int64_t scope = 0;            // RecordScope; 7 is a user's range.
  StringId op_schema = StringPool::kEmpty;
  RawArguments arguments;
  /// Ids (as in the file) of nodes this one waits for; Chakra only.
  IdRange<Id<struct DependencyTag>> data_dependencies{};
  std::optional<Duration> start{};
  std::optional<Duration> duration{};
  /// Of kDevice: what the linker copied from the profiler; start, duration and
  /// name are above.
  int64_t stream = -1;
  int64_t correlation = -1;
  int64_t bytes = -1;
  DeviceEventKind device_kind = DeviceEventKind::kKernel;
};

/// One step of several in a trace: the nodes with these record ids.
struct ExecutionStep {
  int64_t number = -1;  // Of ProfilerStep#n.
  int64_t begin = 0;
  int64_t end = 0;  // Not part of it.
  int64_t ops = 0;
};

struct ExecutionTrace {
  TraceInfo info;
  StringPool strings;
  /// In the order of the recorder's pre-order: by thread, then by record id
  /// (Chakra without record ids: file order). Parents come before children.
  std::vector<ExecutionNode> nodes;
  std::vector<int64_t> dependencies;
  /// If marked; found when traces are loaded (execution_steps.h).
  std::vector<ExecutionStep> steps;
};

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_EXECUTION_TRACE_H_
