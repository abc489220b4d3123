#include "workload/impl/torchrec_node.h"

#include <algorithm>
#include <numeric>

#include "workload/shapes.h"

namespace stepcast::workload {

int64_t TorchrecNode::columns() const {
  return std::accumulate(plan_.node_columns.begin(), plan_.node_columns.end(),
                         int64_t{0});
}

int64_t TorchrecNode::PartElements() const {
  // A node without such tables still takes part.
  return std::max<int64_t>(1,
                           batch_ * plan_.world * ColumnsOf(plan_.node_split));
}

ir::Collective TorchrecNode::WithinNode(ir::CollectiveKind kind,
                                        int64_t elements) const {
  ir::Collective collective =
      Collect(kind, plan_, elements, torch_.options().types.parameter);
  collective.group_size = plan_.ranks_per_node;
  return collective;
}

// Between the ranks that have the same place on their nodes. A rank is as busy
// as the larger of what its node makes for others and what it gets of them, and
// the other way round for gradients.
ir::Collective TorchrecNode::AcrossNodes() const {
  const int64_t nodes = plan_.world / plan_.ranks_per_node;
  const int64_t made = batch_ * nodes * ColumnsOf(plan_.node_split);
  const int64_t taken = batch_ * columns();
  ir::Collective collective =
      Collect(ir::CollectiveKind::kAllToAll, plan_, std::max(made, taken),
              torch_.options().types.parameter);
  collective.group_size = nodes;
  return collective;
}

void TorchrecNode::Send() {
  const int64_t elements = PartElements();
  StepBuilder& step = torch_.step();
  {
    const OpScope op(step, "ReduceScatterBase_Req");
    step.Collect(WithinNode(ir::CollectiveKind::kReduceScatter, elements),
                 stream_);
  }
  {
    const OpScope op(step, "All2All_Pooled_Req");
    step.Collect(AcrossNodes(), stream_);
  }
  torch_.OnBackward([this, elements] {
    const NodeScope node(torch_, "ReduceScatterBase_ReqBackward");
    torch_.step().WaitForStream(stream_);
    if (!plan_.node_split.empty()) {  // The mean over the ranks.
      torch_.step().Launch(Stream(elements, 1, torch_.options().types.parameter,
                                  ir::Arithmetic::kDivision));
    }
  });
}

void TorchrecNode::Receive() {
  {
    const OpScope op(torch_.step(), "All2All_Pooled_Wait");
    torch_.step().WaitForStream(stream_);
    torch_.step().Launch(ir::Concat{.tensors = std::ssize(plan_.node_columns),
                                    .elements = batch_ * columns(),
                                    .dtype = torch_.options().types.parameter});
  }
  torch_.OnBackward([this] {
    const NodeScope node(torch_, "All2All_Pooled_WaitBackward");
    torch_.step().Launch(
        ir::Transpose{.elements = batch_ * columns(),
                      .dtype = torch_.options().types.parameter});
    torch_.step().Collect(AcrossNodes(), stream_);
    torch_.step().Collect(
        WithinNode(ir::CollectiveKind::kAllGather,
                   std::max<int64_t>(1, PartElements() / plan_.ranks_per_node)),
        stream_);
  });
}

}  // namespace stepcast::workload
