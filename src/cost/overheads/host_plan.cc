#include "cost/overheads/host_plan.h"

#include <array>

namespace stepcast::cost {

std::string_view Name(HostKind kind) {
  constexpr std::array<std::string_view, kHostKindCount> kNames = {
      "t1", "t2", "t3", "t4", "t5", "no_launch", "hand_over"};
  return kNames[static_cast<size_t>(kind)];
}

IdVector<ir::OpId, ir::OpId> TopLevelOps(const ir::GraphData& data) {
  IdVector<ir::OpId, ir::OpId> tops(data.ops.size());
  for (const ir::OpId id : data.ops.ids()) {  // Parents come first.
    const ir::Op& op = data.ops[id];
    const ir::OpId above = op.parent.valid() ? tops[op.parent] : ir::OpId{};
    tops[id] = above.valid() || op.kind != ir::OpKind::kOp ? above : id;
  }
  return tops;
}

}  // namespace stepcast::cost
