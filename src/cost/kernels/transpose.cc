#include "cost/kernels/transpose.h"

#include <algorithm>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/stream_features.h"

namespace stepcast::cost {
namespace {

// Lane clocks an element for turning an index into two addresses, whatever its
// width: 175 strided copies of 16-bit tensors on H100 (350-400 G elements a
// second) and 90 on MI300X (600-850).
constexpr double kAddressCost = 45;
// What a lone element costs between L2 and an SM, where it is not kSectorBytes.
constexpr double kCdnaSectorBytes = 64;

}  // namespace

Base TransposeBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Transpose>(shape);
  const auto elements = static_cast<double>(op.elements);
  const double width = ElementBytes(op.dtype);
  const double lanes = LaneUs(elements, kAddressCost, machine);
  double sectors = 0;
  if (op.run > 0) {
    // Neighbours in the output lie apart in the input: a sector for every run,
    // out of L2, which keeps the rest of it until its turn comes.
    const double sector = IsCdna(machine) ? kCdnaSectorBytes : kSectorBytes;
    const double read = std::max(width, sector / static_cast<double>(op.run));
    sectors = L2Us(elements * (read + width), machine);
  }
  Base base = StreamBase(
      {.bytes = 2 * elements * width, .compute_us = std::max(lanes, sectors)},
      machine);
  if (base.bound == Bound::kCompute && sectors > lanes) {
    base.bound = Bound::kL2;
  }
  return base;
}

void TransposeFeatures(const ir::KernelShape& shape, const Machine& machine,
                       const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Transpose>(shape);
  AddStreamFeatures(static_cast<double>(op.elements), ElementBytes(op.dtype),
                    machine, base, features);
  features.AddLog(static_cast<double>(op.run));
}

}  // namespace stepcast::cost
