#include "cost/kernels/transpose.h"

#include <variant>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {
namespace {

// Lane clocks an element for turning an index into two addresses: PyTorch's
// strided kernel moves 350 G elements a second on H100 whatever their width.
constexpr double kAddressCost = 48;

}  // namespace

Base TransposeBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Transpose>(shape);
  const double elements = static_cast<double>(op.elements);
  return StreamBase({.bytes = 2.0 * elements * ElementBytes(op.dtype),
                     .compute_us = LaneUs(elements, kAddressCost, machine)},
                    machine);
}

}  // namespace stepcast::cost
