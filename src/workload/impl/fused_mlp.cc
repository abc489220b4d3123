#include "workload/impl/fused_mlp.h"

#include <utility>
#include <vector>

namespace stepcast::workload {
namespace {

struct Layer {
  int64_t in = 0;
  int64_t out = 0;
};

void Forward(Torch& torch, int64_t rows, const Layer& layer) {
  const Types& types = torch.options().types;
  torch.step().Launch(
      workload::Forward(rows, layer.in, layer.out, types.product));
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

}  // namespace

Tensor RunFusedMlp(Torch& torch, const Tensor& x,
                   std::span<const int64_t> widths, const FusedMlp& fused) {
  if (widths.empty()) {
    return x;
  }
  const Types& types = torch.options().types;
  StepBuilder& step = torch.step();
  std::vector<Layer> layers;
  for (size_t i = 0; i < widths.size(); ++i) {
    layers.push_back(
        {.in = i == 0 ? x.columns : widths[i - 1], .out = widths[i]});
  }
  if (ir::SizeOf(x.dtype) != ir::SizeOf(types.activation)) {
    const OpScope op(step, "aten::to");
    step.Launch(Cast(x.elements(), x.dtype, types.activation));
  }
  for (const Layer& layer : layers) {
    torch.AddParameter(layer.in * layer.out);
    torch.AddParameter(layer.out);
    for (const int64_t elements : {layer.in * layer.out, layer.out}) {
      if (types.cast) {
        const OpScope op(step, "aten::to");
        step.Launch(Cast(elements, types.parameter, types.product));
      }
    }
  }
  {
    const OpScope op(step, fused.op);
    for (const Layer& layer : layers) {
      Forward(torch, x.rows, layer);
    }
  }
  torch.OnBackward([&torch, x, layers, node = fused.node] {
    {
      const NodeScope scope(torch, node);
      for (size_t i = layers.size(); i-- > 0;) {
        Backward(torch, x.rows, layers[i], i > 0 || x.grad);
      }
      // Gradients in the parameters' own type.
      for (const Layer& layer : layers) {
        for (const int64_t elements : {layer.in * layer.out, layer.out}) {
          const Types& t = torch.options().types;
          torch.CastInside(elements, t.product, t.parameter);
        }
      }
    }
    for (size_t i = 0; i < 2 * layers.size(); ++i) {
      torch.Node("torch::autograd::AccumulateGrad");
    }
  });
  return {.rows = x.rows,
          .columns = widths.back(),
          .dtype = types.activation,
          .grad = torch.options().train};
}

}  // namespace stepcast::workload
