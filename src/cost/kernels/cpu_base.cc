#include "cost/kernels/cpu_base.h"

#include <algorithm>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {

bool IsCpu(const Machine& machine) {
  return machine.device.generation == hw::Generation::kCpu;
}

Base CpuBase(const CpuWork& work, const Machine& machine) {
  Base base;
  base.compute_us = work.flops / work.rate;
  base.memory_us = StreamUs(work.bytes, work.bytes, machine);
  base.roofline_us =
      std::max(work.flops / work.peak,
               StreamRooflineUs(work.bytes, work.bytes, machine));
  const double call = LatencyUs(machine);
  const double longer = std::max(base.compute_us, base.memory_us);
  base.time_us = std::max(call + longer, base.roofline_us);
  if (call > longer) {
    base.bound = Bound::kLatency;
  } else if (base.compute_us > base.memory_us) {
    base.bound = Bound::kCompute;
  } else {
    base.bound =
        CachedShare(work.bytes, machine) > 0.5 ? Bound::kL2 : Bound::kDram;
  }
  return base;
}

}  // namespace stepcast::cost
