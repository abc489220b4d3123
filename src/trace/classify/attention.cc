// Fused attention and fused feature interaction.
#include <optional>
#include <string_view>

#include "trace/classify/sizers.h"

namespace stepcast::trace {

ir::KernelShape SizeAttention(const SizeRequest& request) {
  ir::Attention attention{.pass = PassOf(request.detail)};
  const RuledOp* ruled = FindOp(request, "attention");
  if (ruled == nullptr) {
    return attention;
  }
  const std::string_view name = ruled->op.name;
  // Backward ops take the gradient before query, key and value.
  const size_t first = name.find("backward") == std::string_view::npos ? 0 : 1;
  const ir::Tensor* query = TensorAt(*ruled->op.arguments, first);
  const ir::Tensor* key = TensorAt(*ruled->op.arguments, first + 1);
  if (query == nullptr || key == nullptr || query->dims.size() != 4 ||
      key->dims.size() != 4) {
    return attention;
  }
  // scaled_dot_product ops have [batch, heads, length, dim], those that they
  // call [batch, length, heads, dim].
  const bool heads_first =
      name.find("scaled_dot_product") != std::string_view::npos;
  attention.batch = query->dims[0];
  attention.heads = query->dims[heads_first ? 1 : 2];
  attention.queries = query->dims[heads_first ? 2 : 1];
  attention.keys = key->dims[heads_first ? 2 : 1];
  attention.dim = query->dims[3];
  attention.dtype = query->dtype;
  return attention;
}

ir::KernelShape SizeInteraction(const SizeRequest& request) {
  ir::Interaction interaction{.pass = PassOf(request.detail)};
  const RuledOp* ruled = FindWorkingOp(request);
  if (ruled == nullptr) {
    return interaction;
  }
  // The features of every sample: [batch, features, dim].
  for (const ir::Tensor* tensor : TensorsOf(ruled->op.arguments->inputs)) {
    if (tensor->dims.size() == 3) {
      interaction.batch = tensor->dims[0];
      interaction.features = tensor->dims[1];
      interaction.dim = tensor->dims[2];
      interaction.dtype = tensor->dtype;
      break;
    }
  }
  return interaction;
}

}  // namespace stepcast::trace
