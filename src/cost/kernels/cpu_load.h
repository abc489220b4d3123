// What an operator asks of a server's cores and memory, and how long that
// takes: a roofline over the threads that the operator is worth.
#ifndef STEPCAST_COST_KERNELS_CPU_LOAD_H_
#define STEPCAST_COST_KERNELS_CPU_LOAD_H_

#include "cost/kernels/family.h"
#include "cost/machine.h"

namespace stepcast::cost {

/// Whether the machine is the processors of a server (hw/cpu_device.h), which
/// have formulas of their own; measured processors have those of GPUs,
/// corrected.
inline bool IsServer(const Machine& machine) {
  return machine.device.core_gbs > 0;
}

struct CpuLoad {
  double flops = 0;
  double rate = 0;        // FLOP a microsecond that all cores sustain.
  double peak = 0;        // That they never exceed; 0: as `rate`.
  double bytes = 0;       // Streamed.
  double footprint = 0;   // Of what is streamed; 0: as many bytes.
  double row_bytes = 0;   // Moved in rows at random places, cached or not.
  double row_misses = 1;  // Share of them that no cache holds.
  double core_us = 0;     // Of scalar work, on one core; shared by the threads.
  double serial_us = 0;   // Of work that nobody shares.
  double items = 0;       // Elements that threads share out.
  bool own_threads = false;  // A BLAS: its team is in its rate.
};

/// Threads that an operator is worth: one for every grain of items, as
/// PyTorch's and Eigen's loops deal them out.
double ThreadsFor(const CpuLoad& load, const Machine& machine);

/// The call, the team if there is one, then the longest of arithmetic, traffic
/// and scalar work: a core computes while it loads.
Base PriceLoad(const CpuLoad& load, const Machine& machine);

/// Bytes that a load moves from and to memory, beyond the caches.
double DramBytes(const CpuLoad& load, const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_CPU_LOAD_H_
