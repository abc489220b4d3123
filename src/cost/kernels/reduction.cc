#include "cost/kernels/reduction.h"

#include <variant>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {
namespace {

// Partial sums are written, waited for and added: the smallest reductions take
// three times the smallest kernel. V100: 6.5 us for 2048 elements, H100 4.4.
constexpr double kLatencies = 3;
// Reading along the columns leaves SMs waiting: 2048 x 1024 FP32 into 1024 sums
// takes 21-27 us on V100, a copy of as many bytes 12.
constexpr double kColumnWait = 1.8;

}  // namespace

Base ReductionBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Reduction>(shape);
  const double bytes =
      (static_cast<double>(op.inputs) + static_cast<double>(op.outputs)) *
      ElementBytes(op.dtype);
  const double wait = op.outputs > 1 ? kColumnWait : 1.0;
  Base base = StreamBase(
      {.bytes = wait * bytes, .footprint = bytes, .latencies = kLatencies},
      machine);
  base.roofline_us = StreamRooflineUs(bytes, bytes, machine);
  return base;
}

}  // namespace stepcast::cost
