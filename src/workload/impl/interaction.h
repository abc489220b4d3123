// How eager PyTorch lets dense features and embeddings meet.
#ifndef STEPCAST_WORKLOAD_IMPL_INTERACTION_H_
#define STEPCAST_WORKLOAD_IMPL_INTERACTION_H_

#include <span>

#include "workload/impl/torch.h"
#include "workload/model.h"

namespace stepcast::workload {

/// `dense` has no columns if the model has no dense features. `vectors` are
/// the embeddings: one tensor of all tables, or one a table.
Tensor Interact(Torch& torch, const Model& model, const Tensor& dense,
                std::span<const Tensor> vectors);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_INTERACTION_H_
