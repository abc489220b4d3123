#include "cost/kernels/index.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/steps.h"
#include "cost/kernels/stream_features.h"

namespace stepcast::cost {
namespace {

// The index is read before what it points to.
constexpr double kIndexSteps = 0.85;
// Lane clocks an element: index_select and gather of 5 to 17 M elements on H100
// (150-180 G elements/s) and the triangle of V100's interaction (58).
constexpr double kIndexLaneClocks = 103;

// index_put with accumulation sorts the indices and gives each a warp, which
// walks its slice; so does its predecessor in PyTorch 1.7. Clocks that a warp
// takes for its chain of dependent reads (sorted index, its neighbour, its
// origin, the value, the sum), and warps of an SM at a time: 320 us for the
// 2048 x 351 elements of V100's triangle, 36-41 us for 2048 x 36.
constexpr double kWarpClocks = 2900;
constexpr double kWarpsPerSm = 64;
constexpr double kElementsPerWarp = 128;  // Four a lane.

double AccumulateUs(double indices, double slice, const Machine& machine) {
  const double warps = indices * std::ceil(slice / kElementsPerWarp);
  return warps / (machine.sm_count() * kWarpsPerSm) * kWarpClocks /
         (machine.device.clock_ghz * 1e3);
}

}  // namespace

Base IndexBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& index = std::get<ir::Index>(shape);
  const auto elements = static_cast<double>(index.elements);
  const double size = ElementBytes(index.dtype);
  const double moved = elements * size;
  const double source = static_cast<double>(index.source) * size;
  // Short slices read whole sectors, but none of the source twice from DRAM.
  const double slice = static_cast<double>(std::max<int64_t>(index.slice, 1));
  const double waste =
      index.slice > 0 ? std::max(1.0, kSectorBytes / (slice * size)) : 1.0;
  const double scattered = std::min(moved * waste, std::max(source, moved));
  if (!index.scatter || !index.accumulate) {
    return StreamBase(
        {.bytes = scattered + moved,
         .compute_us = LaneUs(elements, kIndexLaneClocks, machine),
         .latencies = LatenciesWith(kIndexSteps, machine)},
        machine);
  }
  // Values are read; sums are read and written.
  return StreamBase(
      {.bytes = moved + 2 * scattered,
       .compute_us = AccumulateUs(elements / slice, slice, machine),
       .latencies = LatenciesWith(kIndexSteps, machine)},
      machine);
}

void IndexFeatures(const ir::KernelShape& shape, const Machine& machine,
                   const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Index>(shape);
  AddStreamFeatures(static_cast<double>(op.elements), ElementBytes(op.dtype),
                    machine, base, features);
  features.AddLog(static_cast<double>(op.slice));
  features.AddLog(static_cast<double>(op.source) /
                  static_cast<double>(op.elements));
  features.Add(op.scatter ? 1 : 0);
}

}  // namespace stepcast::cost
