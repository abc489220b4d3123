#include "cost/kernels/reduction.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/steps.h"
#include "cost/kernels/stream_features.h"

namespace stepcast::cost {
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
// memset that clears the blocks' counters, a work of its own.
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
