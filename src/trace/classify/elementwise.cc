// Kernels with one result per element, and copies that change the layout.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "ir/names.h"
#include "trace/classify/sizers.h"

namespace stepcast::trace {

// Fused and multi-tensor optimizer kernels.

ir::KernelShape SizeOptimizer(const SizeRequest& request) {
  ir::OptimizerStep step{.update = ir::FromName<ir::Update>(request.detail)
                                       .value_or(ir::Update::kOther)};
  const RuledOp* ruled = FindOp(request, "optimizer_step");
  if (ruled == nullptr) {
    return step;
  }
  // All lists of one call are equally long; the first has the parameters.
  for (const Argument& argument : ruled->op.arguments->inputs) {
    if (argument.kind == Argument::Kind::kTensorList) {
      step.tensors = static_cast<int64_t>(argument.tensors.size());
      for (const ir::Tensor& tensor : argument.tensors) {
        step.elements = Plus(step.elements, ElementCount(tensor));
        step.dtype =
            tensor.dtype != ir::DType::kUnknown ? tensor.dtype : step.dtype;
      }
      break;
    }
  }
  if (step.dtype == ir::DType::kUnknown) {
    // Profiler traces do not show the types inside a list.
    step.dtype = TypeAfter(request.facts.name, "Functor");
  }
  // Lists too long for one launch are split over several.
  const int64_t launches = std::max<int64_t>(request.facts.siblings, 1);
  step.tensors = (step.tensors + launches - 1) / launches;
  step.elements = step.elements / launches;
  return step;
}

namespace {

// Ops whose result is a truth value, whatever the operands are.
constexpr std::array<std::string_view, 14> kComparisons = {
    "eq",         "ne",          "lt",          "le",       "gt",
    "ge",         "isnan",       "isinf",       "isfinite", "logical_and",
    "logical_or", "logical_not", "logical_xor", "isin",
};

struct CostlyOp {
  std::string_view name;
  ir::Arithmetic arithmetic = ir::Arithmetic::kPlain;
};

// Ops that compute more than a sum or product an element.
constexpr std::array kCostlyOps = {
    CostlyOp{"div", ir::Arithmetic::kDivision},
    CostlyOp{"sqrt", ir::Arithmetic::kDivision},
    CostlyOp{"rsqrt", ir::Arithmetic::kDivision},
    CostlyOp{"reciprocal", ir::Arithmetic::kDivision},
    CostlyOp{"addcdiv", ir::Arithmetic::kDivision},
    CostlyOp{"exp", ir::Arithmetic::kTranscendental},
    CostlyOp{"log", ir::Arithmetic::kTranscendental},
    CostlyOp{"log1p", ir::Arithmetic::kTranscendental},
    CostlyOp{"sin", ir::Arithmetic::kTranscendental},
    CostlyOp{"cos", ir::Arithmetic::kTranscendental},
    CostlyOp{"tanh", ir::Arithmetic::kTranscendental},
    CostlyOp{"tanh_backward", ir::Arithmetic::kTranscendental},
    CostlyOp{"sigmoid", ir::Arithmetic::kTranscendental},
    CostlyOp{"silu", ir::Arithmetic::kTranscendental},
    CostlyOp{"silu_backward", ir::Arithmetic::kTranscendental},
    CostlyOp{"gelu", ir::Arithmetic::kTranscendental},
    CostlyOp{"gelu_backward", ir::Arithmetic::kTranscendental},
    CostlyOp{"erf", ir::Arithmetic::kTranscendental},
    CostlyOp{"softplus", ir::Arithmetic::kTranscendental},
    CostlyOp{"binary_cross_entropy", ir::Arithmetic::kTranscendental},
    CostlyOp{"binary_cross_entropy_with_logits",
             ir::Arithmetic::kTranscendental},
    CostlyOp{"pow", ir::Arithmetic::kPower},
};

ir::Arithmetic ArithmeticOf(const OpContext& op) {
  const auto found =
      std::ranges::find(kCostlyOps, PlainName(op.name), &CostlyOp::name);
  return found == kCostlyOps.end() ? ir::Arithmetic::kPlain : found->arithmetic;
}

ir::Elementwise Sized(int64_t elements, ir::DType dtype, int64_t read) {
  return {.elements = elements,
          .read = {std::max<int64_t>(read, 0)},
          .written = {Times(elements, ir::SizeOf(dtype))},
          .dtype = dtype};
}

int64_t Sum(std::span<const ir::Tensor* const> tensors) {
  int64_t bytes = 0;
  for (const ir::Tensor* tensor : tensors) {
    bytes = Plus(bytes, BytesOf(*tensor).count);
  }
  return bytes;
}

// The widest floating type decides; without one, the first operand's type.
ir::DType ResultType(std::span<const ir::Tensor* const> tensors) {
  constexpr std::array<ir::DType, 5> kByRank = {
      ir::DType::kFp64, ir::DType::kFp32, ir::DType::kBf16, ir::DType::kFp16,
      ir::DType::kFp8};
  for (const ir::DType dtype : kByRank) {
    for (const ir::Tensor* tensor : tensors) {
      // A scalar tensor does not widen the result.
      if (tensor->dtype == dtype &&
          (!tensor->dims.empty() || tensors.size() == 1)) {
        return dtype;
      }
    }
  }
  return tensors.empty() ? ir::DType::kUnknown : tensors.front()->dtype;
}

// Ops that were given a place for the result have it last, after a plain
// argument: aten::sub(self, other, alpha, out).
bool EndsWithOut(const OpContext& op,
                 std::span<const ir::Tensor* const> tensors) {
  const auto& inputs = op.arguments->inputs;
  return tensors.size() > 1 && !op.name.ends_with('_') &&
         inputs.size() > tensors.size() &&
         inputs.back().kind == Argument::Kind::kTensor &&
         inputs[inputs.size() - 2].kind != Argument::Kind::kTensor;
}

// From recorded outputs, or from the operands under broadcasting.
ir::Elementwise FromTensors(const OpContext& op) {
  std::vector<const ir::Tensor*> inputs = TensorsOf(op.arguments->inputs);
  const auto outputs = TensorsOf(op.arguments->outputs);
  if (EndsWithOut(op, inputs)) {
    inputs.pop_back();
  }
  if (!outputs.empty()) {
    ir::Elementwise sized = Sized(ElementCount(*outputs.front()),
                                  outputs.front()->dtype, Sum(inputs));
    sized.written = {Sum(outputs)};
    return sized;
  }
  const auto shape = Broadcast(inputs);
  if (inputs.empty() || !shape) {
    return {};
  }
  const bool compares =
      std::ranges::find(kComparisons, PlainName(op.name)) != kComparisons.end();
  return Sized(Product(*shape),
               compares ? ir::DType::kBool : ResultType(inputs), Sum(inputs));
}

ir::Elementwise FromOperands(const OpContext& op) {
  ir::Elementwise sized = FromTensors(op);
  if (sized.elements > 0) {
    sized.arithmetic = ArithmeticOf(op);
  }
  return sized;
}

// torch.compile's kernels list inputs and outputs alike, then the number of
// elements; the last tensor is written.
ir::Elementwise FromTriton(const OpContext& op) {
  const auto tensors = TensorsOf(op.arguments->inputs);
  if (tensors.empty()) {
    return {};
  }
  int64_t elements = 0;
  for (const ir::Tensor* tensor : tensors) {
    elements = std::max(elements, ElementCount(*tensor));
  }
  for (const Argument& argument : op.arguments->inputs) {
    if (argument.kind == Argument::Kind::kInt && argument.ints[0] > 0) {
      elements = argument.ints[0];
      break;
    }
  }
  const ir::Tensor* output = tensors.back();
  return {.elements = elements,
          .read = {Sum(std::span(tensors).first(tensors.size() - 1))},
          .written = BytesOf(*output),
          .dtype = output->dtype};
}

// copy_(destination, source).
ir::Elementwise FromCopy(const Arguments& arguments) {
  const ir::Tensor* to = TensorAt(arguments, 0);
  const ir::Tensor* from = TensorAt(arguments, 1);
  if (to == nullptr || from == nullptr) {
    return {};
  }
  return Sized(ElementCount(*to), to->dtype, BytesOf(*from).count);
}

// A kernel over the result of a product: bias, activation, scaling.
ir::Elementwise FromGemm(const OpContext& op) {
  const auto gemm = GemmOf(op);
  if (!gemm) {
    return {};
  }
  const int64_t elements = Times(gemm->batch, Times(gemm->m, gemm->n));
  return Sized(elements, gemm->dtype, Times(elements, ir::SizeOf(gemm->dtype)));
}

// Which tensor of a convolution a helper kernel reads.
int64_t TensorOf(const ir::Convolution& convolution, std::string_view detail) {
  if (HasWord(detail, "input")) {
    return Times(Times(convolution.batch, convolution.in_channels),
                 Times(convolution.height, convolution.width));
  }
  if (HasWord(detail, "weight")) {
    return Times(Times(convolution.out_channels,
                       convolution.in_channels /
                           std::max<int64_t>(convolution.groups, 1)),
                 Times(convolution.kernel_height, convolution.kernel_width));
  }
  return HasWord(detail, "output") ? OutputElements(convolution) : 0;
}

// Arithmetic on the ids of an embedding lookup, or on its gradient.
ir::Elementwise FromLookups(const SizeRequest& request) {
  const ir::EmbeddingBag bag = LookupsOf(request);
  if (HasWord(request.detail, "gradient")) {
    const int64_t elements = Times(bag.batch, Times(bag.tables, bag.dim));
    return Sized(elements, bag.dtype, Times(elements, ir::SizeOf(bag.dtype)));
  }
  return Sized(bag.lookups, ir::DType::kInt64,
               Times(bag.lookups, ir::SizeOf(ir::DType::kInt64)));
}

// nll_loss(input [batch, classes], target [batch]) reads one class per sample.
ir::Elementwise FromTargets(const Arguments& arguments) {
  const auto tensors = TensorsOf(arguments.inputs);
  if (tensors.empty()) {
    return {};
  }
  for (const ir::Tensor* tensor : tensors) {
    if (tensor->dtype == ir::DType::kInt64) {
      return Sized(ElementCount(*tensor), tensors.front()->dtype,
                   BytesOf(*tensor).count);
    }
  }
  return {};
}

}  // namespace

ir::KernelShape SizeElementwise(const SizeRequest& request) {
  if (HasWord(request.detail, "helper")) {
    return ir::Elementwise{};
  }
  const RuledOp* ruled = FindWorkingOp(request);
  if (ruled == nullptr) {
    return ir::Elementwise{};
  }
  if (ruled->IsFamily("embedding_bag")) {
    return FromLookups(request);
  }
  const OpContext& op = ruled->op;
  if (op.name.starts_with("triton_")) {
    return FromTriton(op);
  }
  if (ruled->rule == nullptr) {
    return FromOperands(op);
  }
  const std::string_view family = ruled->rule->family;
  if (family == "gemm") {
    return FromGemm(op);
  }
  if (family == "copy") {
    return FromCopy(*op.arguments);
  }
  if (family == "convolution") {
    // scalePackedTensor prepares the gradient of the input.
    const auto convolution = ConvolutionOf(request);
    const bool backward = ruled->rule->detail != "forward";
    const int64_t elements =
        convolution ? TensorOf(*convolution, backward ? "input" : "output") : 0;
    const ir::DType dtype =
        convolution ? convolution->dtype : ir::DType::kUnknown;
    return Sized(elements, dtype, Times(elements, ir::SizeOf(dtype)));
  }
  if (HasWord(request.detail, "targets") ||
      HasWord(ruled->rule->detail, "targets")) {
    return FromTargets(*op.arguments);
  }
  if (HasWord(request.detail, "lookups")) {
    // bounds_check_indices(rows_per_table, indices, offsets, ...).
    const ir::Tensor* indices = TensorAt(*op.arguments, 1);
    return indices == nullptr ? ir::Elementwise{}
                              : Sized(ElementCount(*indices), indices->dtype,
                                      BytesOf(*indices).count);
  }
  return family == "elementwise" || family == "random" || family == "fill"
             ? FromOperands(op)
             : ir::Elementwise{};
}

ir::KernelShape SizeTranspose(const SizeRequest& request) {
  const RuledOp* op = FindWorkingOp(request);
  if (op == nullptr) {
    return ir::Transpose{};
  }
  if (op->IsFamily("convolution")) {
    const auto convolution = ConvolutionOf(request);
    if (!convolution) {
      return ir::Transpose{};
    }
    return ir::Transpose{.elements = TensorOf(*convolution, request.detail),
                         .dtype = convolution->dtype};
  }
  if (op->IsFamily("gemm")) {
    return FromGemm(op->op);  // The bias, copied to every row.
  }
  const bool fits = op->rule == nullptr || op->IsFamily("transpose") ||
                    op->IsFamily("copy") || op->IsFamily("elementwise");
  const ir::Tensor* first = FirstTensor(op->op.arguments->inputs);
  if (!fits || first == nullptr) {
    return ir::Transpose{};
  }
  return ir::Transpose{.elements = ElementCount(*first), .dtype = first->dtype};
}

}  // namespace stepcast::trace
