// NVIDIA's exchange between ranks that have the tables and bottom MLP, and
// ranks that have the samples (BottomToTop of its PyTorch DLRM).
#ifndef STEPCAST_WORKLOAD_IMPL_BOTTOM_TO_TOP_H_
#define STEPCAST_WORKLOAD_IMPL_BOTTOM_TO_TOP_H_

#include "workload/impl/torch.h"
#include "workload/rank_plan.h"

namespace stepcast::workload {

/// The vectors of `vectors` tables and of the bottom MLP, for this rank's
/// samples. `made` are those this rank has made for the samples of all.
Tensor BottomToTop(Torch& torch, const RankPlan& plan, ir::StreamId stream,
                   const Tensor& made, int64_t vectors);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_BOTTOM_TO_TOP_H_
