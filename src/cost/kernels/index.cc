#include <algorithm>
#include <cmath>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/families.h"
#include "cost/kernels/steps.h"

namespace stepcast::cost {
namespace {

// What one kernel of each kind moves, in bytes per element, and its chain of
// dependent steps. V100 kernels of 32 to 15 M elements in three DLRM traces.
struct Cost {
  double bytes = 0;
  double steps = 0;
};

// Of a key's position, which sorts carry along.
constexpr double kPositionBytes = 8;

Cost CostOf(ir::SortKind kind, double size) {
  switch (kind) {
    case ir::SortKind::kSort:
      // One pass over one digit: keys and positions are read and written. The
      // blocks pass their counts to the next one; a single block sorts up to
      // some thousand keys in as long.
      return {.bytes = 2 * (size + kPositionBytes), .steps = 4};
    case ir::SortKind::kUnique:
      // Keys are read, those that differ from their neighbour written: half of
      // them, as a middle between all and none.
      return {.bytes = 1.5 * size, .steps = 1.5};
    case ir::SortKind::kScan:
      return {.bytes = 2 * size, .steps = 1};
    case ir::SortKind::kSearch:
      // A query and its result; the table searched stays in L2.
      return {.bytes = size + kPositionBytes, .steps = 2};
  }
  return {};
}

}  // namespace

Base SortBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& sort = std::get<ir::Sort>(shape);
  const Cost cost = CostOf(sort.kind, ElementBytes(sort.dtype));
  return StreamBase({.bytes = static_cast<double>(sort.elements) * cost.bytes,
                     .latencies = LatenciesWith(cost.steps, machine)},
                    machine);
}

namespace {

// The index is read before what it points to.
constexpr double kIndexSteps = 0.85;
// On CDNA this hides in the dispatch: nine small kernels of MI300X take 2.7 to
// 4.0 us, two others 5.6 and 6.3, where the smallest kernel has 4.
constexpr double kCdnaIndexSteps = 0;
// Lane clocks per element: index_select and gather of 5 to 17 M elements on
// H100 (150-180 G elements/s) and the triangle of V100's interaction (58).
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
  const double latencies =
      LatenciesWith(IsCdna(machine) ? kCdnaIndexSteps : kIndexSteps, machine);
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
         .latencies = latencies},
        machine);
  }
  // Values are read; sums are read and written.
  return StreamBase(
      {.bytes = moved + 2 * scattered,
       .compute_us = AccumulateUs(elements / slice, slice, machine),
       .latencies = latencies},
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
