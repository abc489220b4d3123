// Reductions, and softmax as a reduction with its way back.
#include <algorithm>
#include <optional>
#include <string_view>

#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

// reduce(self, dim, keepdim, ...) has more arguments than reduce(self, dtype).
constexpr size_t kWholeArguments = 2;

// The elements left when `axes` of `dims` are summed away; 0 if they are not
// axes of it.
int64_t Left(const std::vector<int64_t>& dims,
             const std::vector<int64_t>& axes) {
  const auto rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> left = dims;
  for (int64_t axis : axes) {
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank) {
      return 0;
    }
    left[static_cast<size_t>(axis)] = 1;
  }
  return axes.empty() ? 1 : Product(left);
}

bool IsInside(const SizeRequest& request, std::string_view part) {
  return std::ranges::any_of(request.ops, [&](const RuledOp& ruled) {
    return ruled.op.name.find(part) != std::string_view::npos;
  });
}

int64_t OutputsOf(const SizeRequest& request, const OpContext& op,
                  const ir::Tensor& input) {
  const Arguments& arguments = *op.arguments;
  if (const ir::Tensor* output = FirstTensor(arguments.outputs)) {
    return ElementCount(*output);
  }
  if (const auto axes = IntsAt(arguments, 1)) {
    return Left(input.dims, *axes);
  }
  if (arguments.inputs.size() <= kWholeArguments || ElementCount(input) == 1) {
    return 1;
  }
  // The gradient of a bias is the sum over all rows.
  if (IsInside(request, "AddmmBackward") && input.dims.size() == 2) {
    return input.dims[1];
  }
  return 0;
}

// Whether the summed elements are strided: the last axis, along which elements
// are contiguous, is kept.
bool KeepsLastAxis(const SizeRequest& request, const OpContext& op,
                   const ir::Tensor& input) {
  const auto rank = static_cast<int64_t>(input.dims.size());
  const auto axes = IntsAt(*op.arguments, 1);
  if (rank < 2 || !axes) {
    return rank == 2 && IsInside(request, "AddmmBackward");
  }
  return !axes->empty() && std::ranges::none_of(*axes, [&](int64_t axis) {
    return axis == -1 || axis == rank - 1;
  });
}

// Of a product split along k: one sum per element of the result. Into how many
// parts is not recorded.
ir::Reduction FromSplitProduct(const SizeRequest& request) {
  if (const RuledOp* product = FindOp(request, "gemm")) {
    if (const auto gemm = GemmOf(product->op)) {
      return {.outputs = Times(gemm->batch, Times(gemm->m, gemm->n)),
              .dtype = gemm->dtype};
    }
  }
  if (const auto convolution = ConvolutionOf(request)) {
    return {.dtype = convolution->dtype};
  }
  return {};
}

}  // namespace

ir::KernelShape SizeReduction(const SizeRequest& request) {
  if (HasWord(request.detail, "splitk")) {
    return FromSplitProduct(request);
  }
  const RuledOp* ruled = FindWorkingOp(request);
  if (ruled == nullptr) {
    return ir::Reduction{};
  }
  const auto tensors = TensorsOf(ruled->op.arguments->inputs);
  if (ruled->op.name.starts_with("triton_")) {
    // Inputs first, results last.
    return tensors.size() < 2
               ? ir::Reduction{}
               : ir::Reduction{.inputs = ElementCount(*tensors.front()),
                               .outputs = ElementCount(*tensors.back()),
                               .dtype = tensors.front()->dtype};
  }
  if (ruled->IsFamily("gemm")) {
    // The second stage of a dot product.
    const auto gemm = GemmOf(ruled->op);
    return gemm ? ir::Reduction{.outputs = Times(gemm->m, gemm->n),
                                .dtype = gemm->dtype}
                : ir::Reduction{};
  }
  const bool fits = ruled->rule == nullptr || ruled->IsFamily("reduction") ||
                    ruled->IsFamily("elementwise");
  if (!fits || tensors.empty()) {
    return ir::Reduction{};
  }
  const ir::Tensor* input = tensors.front();
  if (HasWord(request.detail, "targets") && tensors.size() > 1) {
    // nll_loss: one number per sample is read and summed.
    return ir::Reduction{.inputs = ElementCount(*tensors[1]),
                         .outputs = 1,
                         .dtype = input->dtype};
  }
  return ir::Reduction{.inputs = ElementCount(*input),
                       .outputs = OutputsOf(request, ruled->op, *input),
                       .dtype = input->dtype,
                       .strided = KeepsLastAxis(request, ruled->op, *input)};
}

ir::KernelShape SizeSoftmax(const SizeRequest& request) {
  ir::Softmax softmax{.pass = PassOf(request.detail)};
  const RuledOp* ruled = FindOp(request, "softmax");
  const ir::Tensor* input =
      ruled == nullptr ? nullptr : FirstTensor(ruled->op.arguments->inputs);
  if (input == nullptr || input->dims.empty()) {
    return softmax;
  }
  softmax.dtype = input->dtype;
  // _softmax(self, dim, half_to_float), backward(grad, output, dim, type).
  const size_t position =
      ruled->op.name.find("backward") == std::string_view::npos ? 1 : 2;
  const auto rank = static_cast<int64_t>(input->dims.size());
  // The fast kernels work along the last dimension; the spatial one
  // needs a recorded axis.
  int64_t axis = IntAt(*ruled->op.arguments, position).value_or(-1);
  if (axis == -1 &&
      request.facts.name.find("Spatial") != std::string_view::npos) {
    return softmax;
  }
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis >= rank) {
    return softmax;
  }
  softmax.columns = input->dims[static_cast<size_t>(axis)];
  softmax.rows = Left(input->dims, {axis});
  return softmax;
}

}  // namespace stepcast::trace
