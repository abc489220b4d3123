#include <algorithm>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/families.h"

namespace stepcast::cost {
namespace {

// Kernels over a list of tensors cut it into chunks of so many elements, one
// per block; a block alone on its SM moves so many bytes per clock. The last
// launch of a _foreach_add_ on a 2080 Ti, 17 chunks on 68 SMs, takes 53 us.
constexpr double kChunkElements = 65536;
constexpr double kChunkBytesPerClock = 10;

// Tensors of the parameters' size that are read or written.
double StreamsOf(ir::Update update) {
  switch (update) {
    case ir::Update::kSgd:             // p, g -> p
    case ir::Update::kRowwiseAdagrad:  // The state is one number per row.
    case ir::Update::kOther:           // One step of several: a, b -> a.
    case ir::Update::kNone:
      return 3;
    case ir::Update::kAdagrad:  // p, g, s -> p, s
      return 5;
    case ir::Update::kAdam:  // p, g, m, v -> p, m, v
      return 7;
    case ir::Update::kLamb:  // As Adam; the update goes through memory.
      return 9;
  }
  return 3;
}

}  // namespace

Base OptimizerStepBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& step = std::get<ir::OptimizerStep>(shape);
  const auto elements = static_cast<double>(step.elements);
  const double bytes_each = StreamsOf(step.update) * ElementBytes(step.dtype);
  double chunk_us = 0;
  if (step.tensors > 1) {
    const double chunk =
        std::min(kChunkElements, elements / static_cast<double>(step.tensors));
    chunk_us = chunk * bytes_each /
               (kChunkBytesPerClock * machine.device.clock_ghz * 1e3);
  }
  Base base = StreamBase({.bytes = elements * bytes_each}, machine);
  if (chunk_us > base.time_us - LatencyUs(machine)) {
    base.time_us = LatencyUs(machine) + chunk_us;
    base.bound = Bound::kLatency;
  }
  return base;
}

}  // namespace stepcast::cost
