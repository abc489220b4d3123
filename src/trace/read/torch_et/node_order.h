// Puts the nodes of an execution trace in the order of their start, parents
// before children.
#ifndef STEPCAST_TRACE_READ_TORCH_ET_NODE_ORDER_H_
#define STEPCAST_TRACE_READ_TORCH_ET_NODE_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "trace/read/execution_trace.h"
#include "trace/read/torch_et/parsed_node.h"

namespace stepcast::trace {

/// Finds nodes by id. Of nodes with the same id, the first one counts.
class NodeIndex {
 public:
  explicit NodeIndex(std::span<const ParsedNode> nodes);

  /// The position of the node with this id.
  std::optional<uint32_t> Find(int64_t id) const;
  bool IsDuplicate(uint32_t position) const { return duplicate_[position]; }

 private:
  std::vector<std::pair<int64_t, uint32_t>> by_id_;
  std::vector<bool> duplicate_;
};

/// Fills trace.nodes: host nodes by thread and record id (order of the file
/// where there is none), then device nodes in the order of the file, each with
/// the thread of its parent. Nodes with a taken id are left out, parents that
/// are missing, no host node or part of a cycle are dropped; both are counted.
/// Time and memory are linear but for two sorts.
void ArrangeNodes(std::vector<ParsedNode> nodes, ExecutionTrace& trace,
                  Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_TORCH_ET_NODE_ORDER_H_
