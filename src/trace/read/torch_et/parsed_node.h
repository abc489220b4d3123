// A node of an execution trace with its parent still named by id.
#ifndef STEPCAST_TRACE_READ_TORCH_ET_PARSED_NODE_H_
#define STEPCAST_TRACE_READ_TORCH_ET_PARSED_NODE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "trace/read/execution_trace.h"

namespace stepcast::trace {

struct ParsedNode {
  ExecutionNode node{};
  std::optional<int64_t> parent{};  // As in the file.
};

/// RecordScope::USER_SCOPE: a range that a person or a library named.
inline constexpr int64_t kUserScope = 7;

/// The process and thread nodes that PyTorch's recorder adds itself:
/// "[pytorch|profiler|execution_trace|thread]".
inline bool IsRecorderNodeName(std::string_view name) {
  return name.starts_with("[pytorch|profiler|");
}

/// What a host node is, by its name and scope.
inline NodeKind HostNodeKind(std::string_view name, int64_t scope) {
  if (IsRecorderNodeName(name)) {
    return NodeKind::kRoot;
  }
  return scope == kUserScope ? NodeKind::kAnnotation : NodeKind::kOp;
}

/// The kind of device event that a profiler's category stands for, of all
/// dialects; nothing for events on the host.
inline std::optional<DeviceEventKind> DeviceKindOfCategory(
    std::string_view category) {
  if (category == "kernel" || category == "Kernel") {
    return DeviceEventKind::kKernel;
  }
  if (category == "gpu_memcpy" || category == "Memcpy") {
    return DeviceEventKind::kMemcpy;
  }
  if (category == "gpu_memset" || category == "Memset") {
    return DeviceEventKind::kMemset;
  }
  return std::nullopt;
}

/// Times farther from zero than this (146 years) are invalid; the difference
/// of any two that are nearer fits.
inline constexpr Duration kMostTime{int64_t{1} << 62};

/// The sum, or the longest time there is: hostile files claim centuries.
inline Duration SumOfTimes(Duration a, Duration b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a.count(), b.count(), &sum) ? Duration::max()
                                                            : Duration(sum);
}

/// The integer field that the attribute or member `name` ("rf_id", "tid", ...)
/// fills, or null.
inline int64_t* FindIntegerField(std::string_view name, ExecutionNode& node) {
  if (name == "rf_id") {
    return &node.record_id;
  }
  if (name == "fw_parent") {
    return &node.forward_parent;
  }
  if (name == "seq_id") {
    return &node.sequence;
  }
  if (name == "scope") {
    return &node.scope;
  }
  if (name == "tid") {
    return &node.thread;
  }
  if (name == "fw_tid") {
    return &node.forward_thread;
  }
  return name == "stream" ? &node.stream : nullptr;
}

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_TORCH_ET_PARSED_NODE_H_
