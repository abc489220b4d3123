#include "cost/kernels/concat.h"

#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/steps.h"
#include "cost/kernels/stream_features.h"

namespace stepcast::cost {
namespace {

// Share of what plain streams sustain: the blocks of every tensor write far
// apart. V100, cats of 57 to 290 MB.
constexpr double kConcatStreamShare = 0.85;
// Lane clocks an element for the position in the input and in the output: cats
// of 16-bit tensors on H100 and MI300X, which are not bound by memory.
constexpr double kConcatLaneClocks = 64;
// The list of tensors is read first.
constexpr double kListSteps = 0.3;

}  // namespace

Base ConcatBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& concat = std::get<ir::Concat>(shape);
  const auto elements = static_cast<double>(concat.elements);
  const double bytes = 2 * elements * ElementBytes(concat.dtype);
  Base base =
      StreamBase({.bytes = bytes / kConcatStreamShare,
                  .footprint = bytes,
                  .compute_us = LaneUs(elements, kConcatLaneClocks, machine),
                  .latencies = LatenciesWith(kListSteps, machine)},
                 machine);
  base.roofline_us = StreamRooflineUs(bytes, bytes, machine);
  return base;
}

void ConcatFeatures(const ir::KernelShape& shape, const Machine& machine,
                    const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Concat>(shape);
  AddStreamFeatures(static_cast<double>(op.elements), ElementBytes(op.dtype),
                    machine, base, features);
  features.AddLog(static_cast<double>(op.tensors));
}

}  // namespace stepcast::cost
