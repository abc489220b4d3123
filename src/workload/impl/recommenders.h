// What recommendation models compute from a batch, in eager PyTorch.
#ifndef STEPCAST_WORKLOAD_IMPL_RECOMMENDERS_H_
#define STEPCAST_WORKLOAD_IMPL_RECOMMENDERS_H_

#include "workload/impl/embeddings.h"
#include "workload/impl/torch.h"
#include "workload/model.h"

namespace stepcast::workload {

/// The logits of a batch: DLRM, Wide & Deep, NCF or DeepFM. `dense` are the
/// dense features, without columns if there are none.
Tensor Recommend(Torch& torch, const Model& model, const Tensor& dense,
                 LookupStyle style, const LookupOptions& options);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_RECOMMENDERS_H_
