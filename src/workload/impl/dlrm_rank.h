// A rank of facebookresearch/dlrm: its tables for the samples of all, vectors
// exchanged beside the bottom MLP, and a DDP around each MLP.
#ifndef STEPCAST_WORKLOAD_IMPL_DLRM_RANK_H_
#define STEPCAST_WORKLOAD_IMPL_DLRM_RANK_H_

#include "workload/impl/ddp.h"
#include "workload/impl/embeddings.h"
#include "workload/impl/torch.h"
#include "workload/model.h"
#include "workload/rank_plan.h"

namespace stepcast::workload {

class DlrmRank {
 public:
  /// `bucket_mib` as in Settings.
  DlrmRank(Torch& torch, const Model& model, const RankPlan& plan,
           ir::StreamId stream, int64_t bucket_mib);

  /// The logits of this rank's samples. `lookups` are those of all samples.
  Tensor Predict(const Tensor& dense, LookupStyle style,
                 const LookupOptions& lookups);

 private:
  // Vectors of this rank's tables to where their samples are.
  void Send(const std::vector<Tensor>& vectors);
  Tensor Receive();

  Torch& torch_;
  const Model& model_;
  const RankPlan& plan_;
  ir::StreamId stream_;
  int64_t batch_ = 0;  // Of this rank.
  Ddp bottom_;
  Ddp top_;
};

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_DLRM_RANK_H_
