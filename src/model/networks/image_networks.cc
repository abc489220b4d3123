// ResNet-50 (He et al., 2016) and Inception-V3 (Szegedy et al., 2016), as
// torchvision builds them; Inception without its auxiliary classifier.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/frameworks/torch/torch.h"
#include "model/networks/networks.h"

namespace stepcast::model {
namespace {

// Layers of convolutional networks in eager PyTorch.

// A batch of feature maps.
struct Images {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  ir::DType dtype = ir::DType::kFp32;
  bool grad = false;

  int64_t elements() const { return batch * channels * height * width; }
};

// A window over feature maps.
struct Window {
  int64_t height = 1;
  int64_t width = 1;
  int64_t stride = 1;
  int64_t pad_height = 0;
  int64_t pad_width = 0;
};

class ImageLayers {
 public:
  explicit ImageLayers(Torch& torch) : torch_(torch) {}

  Images Convolve(const Images& x, int64_t channels, const Window& window);
  Images Normalize(const Images& x);
  Images ReluInPlace(const Images& x);
  /// All three.
  Images Block(const Images& x, int64_t channels, const Window& window);
  Images MaxPool(const Images& x, const Window& window);
  Images AveragePool(const Images& x, const Window& window);
  /// To one pixel, a row an image.
  Tensor PoolAll(const Images& x);
  /// a += b.
  Images AddInPlace(const Images& a);
  /// The channels of all.
  Images Cat(std::span<const Images> parts);
  /// Where a tensor went `ways` ways, as many gradients come back.
  void Fork(const Images& x, int64_t ways);

 private:
  Images Pool(const Images& x, const Window& window, bool max);

  Torch& torch_;
};

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

constexpr Window kOne{};
constexpr Window kThree{
    .height = 3, .width = 3, .pad_height = 1, .pad_width = 1};
constexpr Window kHalve{
    .height = 3, .width = 3, .stride = 2, .pad_height = 1, .pad_width = 1};
constexpr Window kThreeValid{.height = 3, .width = 3};
constexpr Window kHalveValid{.height = 3, .width = 3, .stride = 2};

Images InputOf(const Torch& torch, const Model& model, int64_t batch) {
  return {.batch = batch,
          .channels = 3,
          .height = model.image_size,
          .width = model.image_size,
          .dtype = torch.options().types.parameter};
}

// 1x1, 3x3 and 1x1 convolutions with a shortcut.
Images Bottleneck(ImageLayers& layers, const Images& x, int64_t channels,
                  int64_t stride) {
  constexpr int64_t kExpansion = 4;
  const bool projects = stride != 1 || x.channels != kExpansion * channels;
  layers.Fork(x, 2);
  Images y = layers.Block(x, channels, kOne);
  y = layers.Block(y, channels, stride == 1 ? kThree : kHalve);
  y = layers.Normalize(layers.Convolve(y, kExpansion * channels, kOne));
  if (projects) {
    layers.Normalize(
        layers.Convolve(x, kExpansion * channels, {.stride = stride}));
  }
  return layers.ReluInPlace(layers.AddInPlace(y));
}

// The mixed blocks of torchvision's Inception-V3, by its letters.
Images InceptionA(ImageLayers& layers, const Images& x, int64_t pool) {
  layers.Fork(x, 4);
  const Images one = layers.Block(x, 64, kOne);
  const Images five = layers.Block(layers.Block(x, 48, kOne), 64, Same(5, 5));
  const Images three = layers.Block(
      layers.Block(layers.Block(x, 64, kOne), 96, kThree), 96, kThree);
  const Images pooled = layers.Block(layers.AveragePool(x, kThree), pool, kOne);
  return layers.Cat(std::array{one, five, three, pooled});
}

Images InceptionB(ImageLayers& layers, const Images& x) {
  layers.Fork(x, 3);
  const Images three = layers.Block(x, 384, kHalveValid);
  const Images twice = layers.Block(
      layers.Block(layers.Block(x, 64, kOne), 96, kThree), 96, kHalveValid);
  const Images pooled = layers.MaxPool(x, kHalveValid);
  return layers.Cat(std::array{three, twice, pooled});
}

Images InceptionC(ImageLayers& layers, const Images& x, int64_t middle) {
  const Window across = Same(1, 7);
  const Window down = Same(7, 1);
  layers.Fork(x, 4);
  const Images one = layers.Block(x, 192, kOne);
  Images once = layers.Block(x, middle, kOne);
  once = layers.Block(layers.Block(once, middle, across), 192, down);
  Images twice = layers.Block(x, middle, kOne);
  twice = layers.Block(layers.Block(twice, middle, down), middle, across);
  twice = layers.Block(layers.Block(twice, middle, down), 192, across);
  const Images pooled = layers.Block(layers.AveragePool(x, kThree), 192, kOne);
  return layers.Cat(std::array{one, once, twice, pooled});
}

Images InceptionD(ImageLayers& layers, const Images& x) {
  layers.Fork(x, 3);
  const Images three =
      layers.Block(layers.Block(x, 192, kOne), 320, kHalveValid);
  Images seven = layers.Block(x, 192, kOne);
  seven = layers.Block(layers.Block(seven, 192, Same(1, 7)), 192, Same(7, 1));
  seven = layers.Block(seven, 192, kHalveValid);
  const Images pooled = layers.MaxPool(x, kHalveValid);
  return layers.Cat(std::array{three, seven, pooled});
}

// Two convolutions side by side on one input.
Images Split(ImageLayers& layers, const Images& x) {
  layers.Fork(x, 2);
  const Images across = layers.Block(x, 384, Same(1, 3));
  const Images down = layers.Block(x, 384, Same(3, 1));
  return layers.Cat(std::array{across, down});
}

Images InceptionE(ImageLayers& layers, const Images& x) {
  layers.Fork(x, 4);
  const Images one = layers.Block(x, 320, kOne);
  const Images three = Split(layers, layers.Block(x, 384, kOne));
  const Images twice =
      Split(layers, layers.Block(layers.Block(x, 448, kOne), 384, kThree));
  const Images pooled = layers.Block(layers.AveragePool(x, kThree), 192, kOne);
  return layers.Cat(std::array{one, three, twice, pooled});
}

}  // namespace

Tensor ResNet50(Torch& torch, const Model& model, int64_t batch) {
  struct Stage {
    int64_t blocks = 0;
    int64_t channels = 0;
  };
  constexpr Stage kStages[] = {{3, 64}, {4, 128}, {6, 256}, {3, 512}};
  ImageLayers layers(torch);
  Images x = layers.Block(
      InputOf(torch, model, batch), 64,
      {.height = 7, .width = 7, .stride = 2, .pad_height = 3, .pad_width = 3});
  x = layers.MaxPool(x, kHalve);
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.blocks; ++i) {
      const bool halves = i == 0 && &stage != &kStages[0];
      x = Bottleneck(layers, x, stage.channels, halves ? 2 : 1);
    }
  }
  return torch.Linear(layers.PoolAll(x), model.classes);
}

Tensor InceptionV3(Torch& torch, const Model& model, int64_t batch) {
  ImageLayers layers(torch);
  Images x = InputOf(torch, model, batch);
  x = layers.Block(x, 32, kHalveValid);
  x = layers.Block(x, 32, kThreeValid);
  x = layers.Block(x, 64, kThree);
  x = layers.MaxPool(x, kHalveValid);
  x = layers.Block(x, 80, kOne);
  x = layers.Block(x, 192, kThreeValid);
  x = layers.MaxPool(x, kHalveValid);
  for (const int64_t pool : {32, 64, 64}) {
    x = InceptionA(layers, x, pool);
  }
  x = InceptionB(layers, x);
  for (const int64_t middle : {128, 160, 160, 192}) {
    x = InceptionC(layers, x, middle);
  }
  x = InceptionD(layers, x);
  x = InceptionE(layers, InceptionE(layers, x));
  return torch.Linear(torch.Dropout(layers.PoolAll(x)), model.classes);
}

}  // namespace stepcast::model
