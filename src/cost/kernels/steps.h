// Chains of dependent memory accesses: what they add to a kernel's latency.
#ifndef STEPCAST_COST_KERNELS_STEPS_H_
#define STEPCAST_COST_KERNELS_STEPS_H_

#include "cost/kernels/bandwidth.h"
#include "cost/machine.h"

namespace stepcast::cost {

/// Clocks of one step: loads, the arithmetic after them, and an exchange
/// between threads or a store. As many as the smallest kernel takes on NVIDIA's
/// GPUs, which does just that; on AMD's, most of a small kernel is dispatch.
inline constexpr double kStepClocks = 2900;

inline double StepsUs(double steps, const Machine& machine) {
  return steps * kStepClocks / (machine.device.clock_ghz * 1e3);
}

/// A kernel with so many further steps, in units of LatencyUs.
inline double LatenciesWith(double steps, const Machine& machine) {
  return 1 + StepsUs(steps, machine) / LatencyUs(machine);
}

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_STEPS_H_
