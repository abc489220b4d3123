#include "workload/impl/fused_mlp.h"

#include <utility>
#include <vector>

namespace stepcast::workload {
namespace {

struct Layer {
  int64_t in = 0;
  int64_t out = 0;
};

void LayerForward(Torch& torch, int64_t rows, const Layer& layer) {
  const Types& types = torch.options().types;
  torch.step().Launch(Forward(rows, layer.in, layer.out, types.product));
  torch.step().Launch(Stream(rows * layer.out, 1, types.activation));
}

// ReLU and bias gradient in one kernel, which sums what it writes.
void Backward(Torch& torch, int64_t rows, const Layer& layer, bool data) {
  const Types& types = torch.options().types;
  StepBuilder& step = torch.step();
  step.Launch(Stream(rows * layer.out, 2, types.activation));
  if (data) {
    step.Launch(DataGradient(rows, layer.in, layer.out, types.product));
  }
  step.Launch(WeightGradient(rows, layer.in, layer.out, types.product));
}

// Parameters come in pairs: weights, bias.
std::vector<int64_t> ParametersOf(std::span<const Layer> layers) {
  std::vector<int64_t> parameters;
  for (const Layer& layer : layers) {
    parameters.push_back(layer.in * layer.out);
    parameters.push_back(layer.out);
  }
  return parameters;
}

// Inputs and parameters in the type of the products, each by an op.
void CastInputs(Torch& torch, const Tensor& x,
                std::span<const int64_t> parameters) {
  const Types& types = torch.options().types;
  const auto cast = [&](int64_t elements, ir::DType from, ir::DType to) {
    const OpScope op(torch.step(), "aten::to");
    torch.step().Launch(Cast(elements, from, to));
  };
  if (ir::SizeOf(x.dtype) != ir::SizeOf(types.activation)) {
    cast(x.elements(), x.dtype, types.activation);
  }
  for (const int64_t elements : parameters) {
    if (types.cast) {
      cast(elements, types.parameter, types.product);
    }
  }
}

void BackwardAll(Torch& torch, const Tensor& x, std::span<const Layer> layers,
                 std::string_view node) {
  const std::vector<int64_t> parameters = ParametersOf(layers);
  {
    const NodeScope scope(torch, node);
    for (size_t i = layers.size(); i-- > 0;) {
      Backward(torch, x.rows, layers[i], i > 0 || x.grad);
    }
    // Gradients in the parameters' own type.
    const Types& types = torch.options().types;
    for (const int64_t elements : parameters) {
      torch.CastInside(elements, types.product, types.parameter);
    }
  }
  for (size_t i = parameters.size(); i-- > 0;) {
    const NodeScope scope(torch, "torch::autograd::AccumulateGrad");
    torch.GradientReady(parameters[i]);
  }
}

}  // namespace

Tensor RunFusedMlp(Torch& torch, const Tensor& x,
                   std::span<const int64_t> widths, const FusedMlp& fused) {
  if (widths.empty()) {
    return x;
  }
  std::vector<Layer> layers;
  for (size_t i = 0; i < widths.size(); ++i) {
    layers.push_back(
        {.in = i == 0 ? x.columns : widths[i - 1], .out = widths[i]});
  }
  const std::vector<int64_t> parameters = ParametersOf(layers);
  for (const int64_t elements : parameters) {
    torch.AddParameter(elements);
  }
  CastInputs(torch, x, parameters);
  {
    const OpScope op(torch.step(), fused.op);
    for (const Layer& layer : layers) {
      LayerForward(torch, x.rows, layer);
    }
  }
  torch.OnBackward([&torch, x, layers, node = fused.node] {
    BackwardAll(torch, x, layers, node);
  });
  return {.rows = x.rows,
          .columns = widths.back(),
          .dtype = torch.options().types.activation,
          .grad = torch.options().train};
}

}  // namespace stepcast::workload
