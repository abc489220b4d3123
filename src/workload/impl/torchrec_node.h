// Vectors of tables whose rows are split over the ranks of one node: parts are
// summed inside the node, then go to the nodes of their samples.
#ifndef STEPCAST_WORKLOAD_IMPL_TORCHREC_NODE_H_
#define STEPCAST_WORKLOAD_IMPL_TORCHREC_NODE_H_

#include <cstdint>

#include "workload/impl/exchange.h"
#include "workload/impl/torch.h"
#include "workload/rank_plan.h"

namespace stepcast::workload {

/// TorchRec's TwRwPooledEmbeddingDist. All nodes take part if one has such
/// tables, so that ranks issue the same collectives.
class TorchrecNode {
 public:
  TorchrecNode(Torch& torch, const RankPlan& plan, ir::StreamId stream,
               int64_t batch)
      : torch_(torch), plan_(plan), stream_(stream), batch_(batch) {}

  /// Whether any node has such tables.
  bool used() const { return !plan_.node_columns.empty(); }
  /// Columns of all nodes' such tables.
  int64_t columns() const;

  /// This rank's parts, summed and sent on.
  void Send();
  /// What the nodes made for this rank's samples is there.
  void Receive();

 private:
  // Elements of the node's vectors, for the samples of all ranks.
  int64_t PartElements() const;
  ir::Collective WithinNode(ir::CollectiveKind kind, int64_t elements) const;
  ir::Collective AcrossNodes() const;

  Torch& torch_;
  const RankPlan& plan_;
  ir::StreamId stream_;
  int64_t batch_ = 0;
};

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_TORCHREC_NODE_H_
