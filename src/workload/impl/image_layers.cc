#include "workload/impl/image_layers.h"

#include <string_view>

namespace stepcast::workload {
namespace {

Images After(const Images& x, int64_t channels, const Window& window,
             bool grad) {
  return {
      .batch = x.batch,
      .channels = channels,
      .height =
          (x.height + 2 * window.pad_height - window.height) / window.stride +
          1,
      .width =
          (x.width + 2 * window.pad_width - window.width) / window.stride + 1,
      .dtype = x.dtype,
      .grad = grad};
}

// Shapes have one padding; where a window has two, its padded pixels count as
// input.
ir::Convolution ConvolutionOf(const Images& x, int64_t channels,
                              const Window& window, ir::DType dtype) {
  const bool even = window.pad_height == window.pad_width;
  return {.batch = x.batch,
          .in_channels = x.channels,
          .height = x.height + (even ? 0 : 2 * window.pad_height),
          .width = x.width + (even ? 0 : 2 * window.pad_width),
          .out_channels = channels,
          .kernel_height = window.height,
          .kernel_width = window.width,
          .stride = window.stride,
          .padding = even ? window.pad_height : 0,
          .dtype = dtype};
}

}  // namespace

Window Same(int64_t height, int64_t width) {
  return {.height = height,
          .width = width,
          .pad_height = height / 2,
          .pad_width = width / 2};
}

Images ImageLayers::Convolve(const Images& x, int64_t channels,
                             const Window& window) {
  const Types& types = torch_.options().types;
  const ir::Convolution shape =
      ConvolutionOf(x, channels, window, types.product);
  const int64_t weights = channels * x.channels * window.height * window.width;
  {
    const OpScope op(torch_.step(), "aten::conv2d");
    torch_.CastInside(x.elements(), x.dtype, types.activation);
    if (types.cast) {
      torch_.step().Launch(Cast(weights, types.parameter, types.product));
    }
    torch_.step().Launch(shape);
  }
  torch_.AddParameter(weights);
  Torch& torch = torch_;
  const bool data = x.grad;
  torch_.OnBackward([&torch, shape, weights, data] {
    {
      const NodeScope node(torch, torch.before_2022()
                                      ? "CudnnConvolutionBackward0"
                                      : "ConvolutionBackward0");
      ir::Convolution gradient = shape;
      if (data) {
        gradient.pass = ir::Pass::kBackwardData;
        torch.step().Launch(gradient);
      }
      gradient.pass = ir::Pass::kBackwardWeight;
      torch.step().Launch(gradient);
    }
    torch.UncastGradient(weights);
    torch.AccumulateGrad(weights);
  });
  Images result = After(x, channels, window, torch_.options().train);
  result.dtype = types.activation;
  return result;
}

Images ImageLayers::Normalize(const Images& x) {
  const ir::Normalization shape{.kind = ir::NormKind::kBatch,
                                .rows = x.channels,
                                .columns = x.batch * x.height * x.width,
                                .dtype = x.dtype};
  if (torch_.options().train) {
    // Batches seen so far.
    const OpScope op(torch_.step(),
                     torch_.since_2023() ? "aten::add_" : "aten::add");
    torch_.step().Launch(Stream(1, 1, ir::DType::kInt64));
  }
  {
    const OpScope op(torch_.step(), "aten::batch_norm");
    torch_.step().Launch(shape);
  }
  torch_.AddParameter(x.channels);
  torch_.AddParameter(x.channels);
  Torch& torch = torch_;
  torch_.OnBackward([&torch, shape] {
    ir::Normalization backward = shape;
    backward.pass = ir::Pass::kBackward;
    torch.Node("CudnnBatchNormBackward0", backward);
    torch.AccumulateGrad(shape.rows);
    torch.AccumulateGrad(shape.rows);
  });
  return x;
}

Images ImageLayers::ReluInPlace(const Images& x) {
  {
    const OpScope op(torch_.step(), "aten::relu_");
    torch_.step().Launch(Stream(x.elements(), 1, x.dtype));
  }
  Torch& torch = torch_;
  torch_.OnBackward([&torch, x] {
    torch.Node(torch.before_2022() ? "ReluBackward1" : "ReluBackward0",
               Stream(x.elements(), 2, x.dtype));
  });
  return x;
}

Images ImageLayers::Block(const Images& x, int64_t channels,
                          const Window& window) {
  return ReluInPlace(Normalize(Convolve(x, channels, window)));
}

Images ImageLayers::Pool(const Images& x, const Window& window, bool max) {
  const Images result = After(x, x.channels, window, x.grad);
  const ir::Pooling shape{.inputs = x.elements(),
                          .outputs = result.elements(),
                          .window = window.height * window.width,
                          .dtype = x.dtype,
                          .average = !max};
  {
    const OpScope op(torch_.step(),
                     max ? "aten::max_pool2d" : "aten::avg_pool2d");
    torch_.step().Launch(shape);
  }
  Torch& torch = torch_;
  torch_.OnBackward([&torch, shape, max] {
    ir::Pooling backward = shape;
    backward.pass = ir::Pass::kBackward;
    torch.Node(max ? "MaxPool2DWithIndicesBackward0" : "AvgPool2DBackward0",
               backward);
  });
  return result;
}

Images ImageLayers::MaxPool(const Images& x, const Window& window) {
  return Pool(x, window, /*max=*/true);
}

Images ImageLayers::AveragePool(const Images& x, const Window& window) {
  return Pool(x, window, /*max=*/false);
}

Tensor ImageLayers::PoolAll(const Images& x) {
  {
    const OpScope op(torch_.step(), "aten::adaptive_avg_pool2d");
    torch_.step().Launch(ir::Reduction{.inputs = x.elements(),
                                       .outputs = x.batch * x.channels,
                                       .dtype = x.dtype});
  }
  Torch& torch = torch_;
  torch_.OnBackward([&torch, x] {
    torch.Node("MeanBackward1",
               Stream(x.elements(), 1, x.dtype, ir::Arithmetic::kDivision));
  });
  torch_.step().Op("aten::flatten");
  torch_.OnBackward([&torch] { torch.Node("ViewBackward0"); });
  return {
      .rows = x.batch, .columns = x.channels, .dtype = x.dtype, .grad = x.grad};
}

Images ImageLayers::AddInPlace(const Images& a) {
  {
    const OpScope op(torch_.step(), "aten::add_");
    torch_.step().Launch(Stream(a.elements(), 2, a.dtype));
  }
  Torch& torch = torch_;
  torch_.OnBackward([&torch] { torch.Node("AddBackward0"); });
  return a;
}

Images ImageLayers::Cat(std::span<const Images> parts) {
  Images all = parts.front();
  all.channels = 0;
  for (const Images& part : parts) {
    all.channels += part.channels;
  }
  {
    const OpScope op(torch_.step(), "aten::cat");
    torch_.step().Launch(ir::Concat{.tensors = std::ssize(parts),
                                    .elements = all.elements(),
                                    .dtype = all.dtype});
  }
  Torch& torch = torch_;
  torch_.OnBackward([&torch] { torch.Node("CatBackward0"); });
  return all;
}

void ImageLayers::Fork(const Images& x, int64_t ways) {
  Torch& torch = torch_;
  torch_.OnBackward([&torch, x, ways] {
    for (int64_t i = 1; i < ways; ++i) {
      const OpScope op(torch.step(), "aten::add");
      torch.step().Launch(Stream(x.elements(), 2, x.dtype));
    }
  });
}

}  // namespace stepcast::workload
