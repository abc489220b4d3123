// What a processor takes for an operator: no tiles, no waves, one loop.
#ifndef STEPCAST_COST_KERNELS_CPU_BASE_H_
#define STEPCAST_COST_KERNELS_CPU_BASE_H_

#include "cost/kernels/family.h"
#include "cost/machine.h"

namespace stepcast::cost {

bool IsCpu(const Machine& machine);

/// The arithmetic and the traffic of an operator.
struct CpuWork {
  double flops = 0;
  double rate = 0;  // That large ones sustain, FLOP a microsecond.
  double peak = 0;  // That none exceeds.
  double bytes = 0;
};

/// The call, then the longer of the two: a core computes while it loads.
Base CpuBase(const CpuWork& work, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_CPU_BASE_H_
