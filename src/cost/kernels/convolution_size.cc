#include "cost/kernels/convolution_size.h"

#include <algorithm>
#include <cmath>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {

double ConvolutionSize::Tiles(double side) const {
  return batch * std::ceil(height / side) * std::ceil(width / side);
}

double ConvolutionSize::TilePadding(double side) const {
  return Tiles(side) * side * side / positions();
}

Product ConvolutionSize::Direct() const {
  if (weight_gradient) {
    return {in_channels * window, out_channels, positions(), groups};
  }
  return {positions(), out_channels, in_channels * window, groups};
}

Product ConvolutionSize::Winograd(double side) const {
  const double products = (side + 2) * (side + 2);
  if (weight_gradient) {
    return {in_channels, out_channels, Tiles(side), products};
  }
  return {Tiles(side), out_channels, in_channels, products};
}

ConvolutionSize SizeOfConvolution(const ir::Convolution& op, ir::Pass pass) {
  const auto out = [&op](int64_t size, int64_t kernel) {
    const int64_t steps =
        (size + 2 * op.padding - kernel) / std::max<int64_t>(op.stride, 1);
    return static_cast<double>(std::max<int64_t>(steps + 1, 1));
  };
  const double groups = static_cast<double>(std::max<int64_t>(op.groups, 1));
  const double batch = static_cast<double>(op.batch);
  const double in_channels = static_cast<double>(op.in_channels);
  const double out_channels = static_cast<double>(op.out_channels);
  const double in_area =
      static_cast<double>(op.height) * static_cast<double>(op.width);
  ConvolutionSize size{
      .batch = batch,
      .in_channels = in_channels / groups,
      .out_channels = out_channels / groups,
      .groups = groups,
      .height = out(op.height, op.kernel_height),
      .width = out(op.width, op.kernel_width),
      .window = static_cast<double>(op.kernel_height) *
                static_cast<double>(op.kernel_width),
      .weight_gradient = pass == ir::Pass::kBackwardWeight,
      .product = op.kernel_height * op.kernel_width * op.stride == 1,
      .winograd =
          op.kernel_height == 3 && op.kernel_width == 3 && op.stride == 1 &&
          op.groups <= 1 &&
          (op.dtype == ir::DType::kFp32 || op.dtype == ir::DType::kUnknown)};
  const double weights = in_channels * out_channels / groups * size.window;
  size.io_bytes =
      ElementBytes(op.dtype) * (batch * in_channels * in_area +
                                size.positions() * out_channels + weights);
  if (pass == ir::Pass::kBackwardData) {
    std::swap(size.in_channels, size.out_channels);
    // As many multiplications as forward, over the positions of the input.
    size.window *= size.height * size.width / in_area;
    size.height = static_cast<double>(op.height);
    size.width = static_cast<double>(op.width);
  }
  return size;
}

}  // namespace stepcast::cost
