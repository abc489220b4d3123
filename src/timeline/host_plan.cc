#include "timeline/host_plan.h"

namespace stepcast::timeline {

IdVector<ir::OpId, ir::OpId> TopLevelOps(const ir::GraphData& data) {
  IdVector<ir::OpId, ir::OpId> tops(data.ops.size());
  for (const ir::OpId id : data.ops.ids()) {  // Parents come first.
    const ir::Op& op = data.ops[id];
    const ir::OpId above = op.parent.valid() ? tops[op.parent] : ir::OpId{};
    tops[id] = above.valid() || op.kind != ir::OpKind::kOp ? above : id;
  }
  return tops;
}

}  // namespace stepcast::timeline
