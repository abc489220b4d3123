#include "model/model.h"

#include "base/check.h"

namespace stepcast::model {

std::string_view Name(ModelKind kind) {
  switch (kind) {
    case ModelKind::kDlrm:
      return "dlrm";
    case ModelKind::kWideDeep:
      return "wide_deep";
    case ModelKind::kNcf:
      return "ncf";
    case ModelKind::kDeepFm:
      return "deepfm";
    case ModelKind::kResNet50:
      return "resnet50";
    case ModelKind::kInceptionV3:
      return "inception_v3";
    case ModelKind::kTransformer:
      return "transformer";
  }
  return "";
}

std::string_view Name(InteractionKind kind) {
  switch (kind) {
    case InteractionKind::kDot:
      return "dot";
    case InteractionKind::kCat:
      return "cat";
    case InteractionKind::kDcnV2:
      return "dcnv2";
  }
  return "";
}

std::string_view Name(Loss loss) {
  return loss == Loss::kBce ? "bce" : "mse";
}

std::string_view Name(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
      return "sgd";
    case Optimizer::kAdagrad:
      return "adagrad";
    case Optimizer::kRowwiseAdagrad:
      return "rowwise_adagrad";
    case Optimizer::kAdam:
      return "adam";
  }
  return "";
}

std::string_view Name(OptimizerForm form) {
  switch (form) {
    case OptimizerForm::kPerTensor:
      return "per_tensor";
    case OptimizerForm::kForeach:
      return "foreach";
    case OptimizerForm::kFused:
      return "fused";
  }
  return "";
}

int64_t TableCount(const Model& model) {
  int64_t count = 0;
  for (const TableGroup& group : model.tables) {
    count += group.count;
  }
  return count;
}

int64_t EmbeddingWidth(const Model& model) {
  int64_t width = 0;
  for (const TableGroup& group : model.tables) {
    width += group.count * group.dim;
  }
  return width;
}

int64_t InteractionWidth(const Model& model) {
  const int64_t dense =
      model.bottom_mlp.empty() ? model.dense_features : model.bottom_mlp.back();
  if (model.interaction.kind != InteractionKind::kDot) {
    return dense + EmbeddingWidth(model);
  }
  const int64_t vectors = TableCount(model) + (dense > 0 ? 1 : 0);
  return dense + vectors * (vectors - 1) / 2;
}

}  // namespace stepcast::model
