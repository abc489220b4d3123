// Layers of convolutional networks in eager PyTorch.
#ifndef STEPCAST_WORKLOAD_IMPL_IMAGE_LAYERS_H_
#define STEPCAST_WORKLOAD_IMPL_IMAGE_LAYERS_H_

#include <cstdint>
#include <span>

#include "workload/impl/torch.h"

namespace stepcast::workload {

/// A batch of feature maps.
struct Images {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  ir::DType dtype = ir::DType::kFp32;
  bool grad = false;

  int64_t elements() const { return batch * channels * height * width; }
};

/// A window over feature maps.
struct Window {
  int64_t height = 1;
  int64_t width = 1;
  int64_t stride = 1;
  int64_t pad_height = 0;
  int64_t pad_width = 0;
};

/// As many pixels as before, for an odd window moved by 1.
Window Same(int64_t height, int64_t width);

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

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_IMAGE_LAYERS_H_
