// Normalisation and pooling, mostly of images.
#include <algorithm>
#include <optional>
#include <string_view>

#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

// The largest tensor is the one that is normalised, or its gradient; both have
// the same shape.
const ir::Tensor* LargestTensor(const Arguments& arguments) {
  const ir::Tensor* largest = nullptr;
  for (const ir::Tensor* tensor : TensorsOf(arguments.inputs)) {
    if (largest == nullptr || ElementCount(*tensor) > ElementCount(*largest)) {
      largest = tensor;
    }
  }
  return largest;
}

// native_layer_norm(input, normalized_shape, weight, bias, eps) and backward
// (grad, input, normalized_shape, mean, rstd, weight, bias): the weight is as
// long as a row.
int64_t LayerNormColumns(const OpContext& op) {
  const bool backward = op.name.find("backward") != std::string_view::npos;
  const Arguments& arguments = *op.arguments;
  if (const auto shape = IntsAt(arguments, backward ? 2 : 1)) {
    return Product(*shape);
  }
  const ir::Tensor* weight = TensorAt(arguments, backward ? 5 : 2);
  return weight == nullptr ? 0 : ElementCount(*weight);
}

// native_group_norm(input, weight, bias, N, C, HxW, group, eps); backward has
// grad first and mean, rstd after the input.
int64_t GroupNormRows(const OpContext& op) {
  const bool backward = op.name.find("backward") != std::string_view::npos;
  const Arguments& arguments = *op.arguments;
  const size_t samples = backward ? 5 : 3;
  return Times(IntAt(arguments, samples).value_or(0),
               IntAt(arguments, samples + 3).value_or(0));
}

ir::NormKind NormKindOf(std::string_view detail) {
  if (HasWord(detail, "batch")) {
    return ir::NormKind::kBatch;
  }
  return HasWord(detail, "group") ? ir::NormKind::kGroup : ir::NormKind::kLayer;
}

// The output of pooling `input` with a window, as recorded or by its sizes.
int64_t PooledElements(const Arguments& arguments, const ir::Tensor& input) {
  if (const ir::Tensor* output = FirstTensor(arguments.outputs)) {
    return ElementCount(*output);
  }
  const auto window = IntsAt(arguments, 1);
  auto stride = IntsAt(arguments, 2);
  const auto padding = IntsAt(arguments, 3);
  if (!window || !padding || window->empty() || padding->empty()) {
    return 0;
  }
  if (!stride || stride->empty()) {
    stride = window;  // PyTorch's default.
  }
  std::vector<int64_t> dims = input.dims;
  if (dims.size() < window->size()) {
    return 0;
  }
  // Bounded so that the sum below fits.
  constexpr int64_t kMost = int64_t{1} << 40;
  const auto in_range = [](int64_t number) {
    return number >= 0 && number < kMost;
  };
  for (size_t i = 0; i < window->size(); ++i) {
    int64_t& size = dims[dims.size() - window->size() + i];
    const int64_t step = (*stride)[std::min(i, stride->size() - 1)];
    const int64_t border = (*padding)[std::min(i, padding->size() - 1)];
    if (!in_range(size) || !in_range(border) || !in_range((*window)[i]) ||
        step < 1) {
      return 0;
    }
    size = std::max<int64_t>(size + 2 * border - (*window)[i], -1) / step + 1;
  }
  return Product(dims);
}

}  // namespace

ir::KernelShape SizeNormalization(const SizeRequest& request) {
  ir::Normalization norm{.kind = NormKindOf(request.detail),
                         .pass = PassOf(request.detail)};
  const RuledOp* ruled = FindOp(request, "normalization");
  const ir::Tensor* input =
      ruled == nullptr ? nullptr : LargestTensor(*ruled->op.arguments);
  if (input == nullptr || input->dims.empty()) {
    return norm;
  }
  norm.dtype = input->dtype;
  const int64_t elements = ElementCount(*input);
  if (norm.kind == ir::NormKind::kBatch) {
    norm.rows = input->dims.size() > 1 ? input->dims[1] : 0;
  } else if (norm.kind == ir::NormKind::kGroup) {
    norm.rows = GroupNormRows(ruled->op);
  } else if (const int64_t columns = LayerNormColumns(ruled->op); columns > 0) {
    norm.rows = elements / columns;
  }
  norm.columns = norm.rows > 0 ? elements / norm.rows : 0;
  return norm;
}

ir::KernelShape SizePooling(const SizeRequest& request) {
  ir::Pooling pooling{.pass = PassOf(request.detail)};
  const RuledOp* ruled = FindOp(request, "pooling");
  if (ruled == nullptr) {
    return pooling;
  }
  const Arguments& arguments = *ruled->op.arguments;
  const bool backward =
      ruled->op.name.find("backward") != std::string_view::npos;
  const ir::Tensor* first = TensorAt(arguments, 0);
  // Backward: (grad_output, self, kernel_size, ...).
  const ir::Tensor* input = backward ? TensorAt(arguments, 1) : first;
  if (input == nullptr || first == nullptr) {
    return pooling;
  }
  pooling.dtype = input->dtype;
  pooling.average = ruled->op.name.find("avg") != std::string_view::npos;
  pooling.inputs = ElementCount(*input);
  pooling.outputs =
      backward ? ElementCount(*first) : PooledElements(arguments, *input);
  if (ruled->op.name.find("adaptive") != std::string_view::npos) {
    // Windows cover the input once.
    pooling.window = pooling.outputs > 0 ? pooling.inputs / pooling.outputs : 0;
  } else if (const auto window = IntsAt(arguments, backward ? 2 : 1)) {
    pooling.window = window->empty() ? 0 : Product(*window);
  }
  return pooling;
}

}  // namespace stepcast::trace
