#include "cost/kernels/pooling.h"

#include <variant>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {
namespace {

// Lane clocks for one element of a window: an address, a load out of L1, a
// comparison or sum.
constexpr double kWindowCost = 8;
// Max pooling keeps the place of the maximum as a 64-bit index.
constexpr double kIndexBytes = 8;

}  // namespace

Base PoolingBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Pooling>(shape);
  const double width = ElementBytes(op.dtype);
  const double inputs = static_cast<double>(op.inputs);
  const double outputs = static_cast<double>(op.outputs);
  const double window = static_cast<double>(op.window);
  // Windows that overlap find the input in L1 or L2. Backward first clears the
  // gradient of the input, then writes it.
  const bool backward = op.pass != ir::Pass::kForward;
  const double bytes =
      (backward ? 2 : 1) * inputs * width + outputs * (width + kIndexBytes);
  Base base =
      StreamBase({.bytes = bytes,
                  .compute_us = LaneUs(outputs * window, kWindowCost, machine),
                  .latencies = backward ? 2.0 : 1.0},
                 machine);
  const double least = (inputs + outputs) * width;
  base.roofline_us = StreamRooflineUs(least, bytes, machine);
  return base;
}

}  // namespace stepcast::cost
