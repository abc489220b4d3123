// The sizes of a convolution, seen as matrix products.
#ifndef STEPCAST_COST_KERNELS_CONVOLUTION_SIZE_H_
#define STEPCAST_COST_KERNELS_CONVOLUTION_SIZE_H_

#include "ir/shape.h"

namespace stepcast::cost {

/// c[m,n] = a[m,k] b[k,n], `batch` times.
struct Product {
  double m = 0;
  double n = 0;
  double k = 0;
  double batch = 1;
  double multiplications() const { return m * n * k * batch; }
};

/// A convolution as its algorithms see it. For the gradients the roles are
/// swapped: that of the input produces `in_channels`, that of the weight sums
/// over positions.
struct ConvolutionSize {
  double batch = 0;
  double in_channels = 0;   // Of a group.
  double out_channels = 0;  // Of a group.
  double groups = 1;
  double height = 0;  // Of the tensor produced, or of the output for weights.
  double width = 0;
  double window = 0;  // Elements of the kernel.
  double io_bytes = 0;
  bool weight_gradient = false;
  bool product = false;   // 1x1, stride 1: a matrix product as it stands.
  bool winograd = false;  // 3x3, stride 1, one group, FP32: what cuDNN has.

  double positions() const { return batch * height * width; }
  /// Tiles of `side` x `side` outputs.
  double Tiles(double side) const;
  /// Share of padding of these tiles: 1 is none.
  double TilePadding(double side) const;
  Product Direct() const;
  /// Winograd's products for tiles of `side` outputs: (side + 2)^2 small ones.
  Product Winograd(double side) const;
};

/// `pass` must not be kBackward: that is both gradients.
ConvolutionSize SizeOfConvolution(const ir::Convolution& op, ir::Pass pass);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_CONVOLUTION_SIZE_H_
