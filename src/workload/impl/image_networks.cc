// ResNet-50 (He et al., 2016) and Inception-V3 (Szegedy et al., 2016), as
// torchvision builds them; Inception without its auxiliary classifier.
#include <array>

#include "workload/impl/image_layers.h"
#include "workload/impl/networks.h"

namespace stepcast::workload {
namespace {

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

// 1x1, 3x3 and 1x1 convolutions beside a short cut.
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

}  // namespace stepcast::workload
