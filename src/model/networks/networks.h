// Image and language models in eager PyTorch.
#ifndef STEPCAST_MODEL_NETWORKS_NETWORKS_H_
#define STEPCAST_MODEL_NETWORKS_NETWORKS_H_

#include "model/frameworks/torch/torch.h"
#include "model/model.h"
#include "model/settings.h"
#include "model/step_builder.h"
#include "model/tables/rank_plan.h"

namespace stepcast::model {

/// Adds the whole step of a ResNet-50, Inception-V3 or transformer; ranks have
/// all of it each, in a DDP.
void RunNetwork(const Model& model, const Settings& settings,
                const RankPlan& plan, const TorchOptions& options,
                StepBuilder& step);

/// The logits of a batch of images.
Tensor ResNet50(Torch& torch, const Model& model, int64_t batch);
Tensor InceptionV3(Torch& torch, const Model& model, int64_t batch);
/// The logits of a batch of texts: a row a text, or a row a token.
Tensor RunTransformer(Torch& torch, const Model& model, int64_t batch);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_NETWORKS_NETWORKS_H_
