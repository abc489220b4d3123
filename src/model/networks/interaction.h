// How eager PyTorch lets dense features and embeddings meet.
#ifndef STEPCAST_MODEL_NETWORKS_INTERACTION_H_
#define STEPCAST_MODEL_NETWORKS_INTERACTION_H_

#include <span>

#include "model/frameworks/torch/torch.h"
#include "model/model.h"

namespace stepcast::model {

/// How the lower triangle of the products is picked.
enum class Triangle {
  kLists,     // By lists of Python made in every step: facebookresearch/dlrm.
  kSelected,  // By indices made once: TorchRec.
};

/// `dense` has no columns if the model has no dense features. `vectors` are
/// the embeddings: one tensor of all tables, or one a table.
Tensor Interact(Torch& torch, const Model& model, const Tensor& dense,
                std::span<const Tensor> vectors,
                Triangle triangle = Triangle::kLists);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_NETWORKS_INTERACTION_H_
