#include <algorithm>
#include <cmath>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/families.h"
#include "cost/kernels/steps.h"

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
  base.bytes = least;
  return base;
}

namespace {

// Share of what plain streams sustain: means of 37 and 198 MB on H100, bias
// gradients on V100.
constexpr double kReductionShare = 0.8;
// Sums along rows: the threads' exchange, and a little for every doubling of
// what is summed. 5 to 9000 elements each on V100, H100 and MI300X.
constexpr double kExchangeSteps = 1.0;
constexpr double kStepsPerDoubling = 0.085;
// Sums of rows, as bias gradients are: threads walk down the columns, then
// blocks add up what the others left in memory. V100 and H100, without the
// memset that clears the blocks' counters, an activity of its own.
constexpr double kUsPerDoubling = 1.0;
constexpr double kMostUs = 7.5;

}  // namespace

Base ReductionBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Reduction>(shape);
  const auto inputs = static_cast<double>(op.inputs);
  const auto outputs = static_cast<double>(op.outputs);
  const double bytes = (inputs + outputs) * ElementBytes(op.dtype);
  const double doublings = std::log2(std::max(inputs / outputs, 1.0));
  const double latencies =
      op.strided ? 1 + std::min(kUsPerDoubling * doublings, kMostUs) /
                           LatencyUs(machine)
                 : LatenciesWith(kExchangeSteps + kStepsPerDoubling * doublings,
                                 machine);
  Base base = StreamBase({.bytes = bytes / kReductionShare,
                          .footprint = bytes,
                          .latencies = latencies},
                         machine);
  base.roofline_us = StreamRooflineUs(bytes, bytes, machine);
  return base;
}

void ReductionFeatures(const ir::KernelShape& shape, const Machine& machine,
                       const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Reduction>(shape);
  AddStreamFeatures(static_cast<double>(op.inputs), ElementBytes(op.dtype),
                    machine, base, features);
  features.AddLog(static_cast<double>(op.inputs) /
                  static_cast<double>(op.outputs));
  features.AddLog(static_cast<double>(op.outputs) / machine.sm_count());
  features.Add(op.strided ? 1 : 0);
}

}  // namespace stepcast::cost
