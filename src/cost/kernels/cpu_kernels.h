// The formulas of a server's processors: what each kind of operator asks of
// cores and memory.
#ifndef STEPCAST_COST_KERNELS_CPU_KERNELS_H_
#define STEPCAST_COST_KERNELS_CPU_KERNELS_H_

#include <optional>

#include "cost/kernels/family.h"
#include "cost/machine.h"
#include "ir/shape.h"

namespace stepcast::cost {

// What corrections learned on a processor look at. Its loops know no tiles and
// no waves: the numbers of the shape itself tell them apart.

/// The times of the formula, then the fields of the shape: sizes as log2(1 +
/// x), flags and kinds as numbers. Always as many for one family.
void CpuFeatures(const ir::KernelShape& shape, const Base& base,
                 FeatureVector& features);

/// The features of a family's shape on the machine: those of the family on
/// GPUs (none where it has none), those above on processors.
void FeaturesOn(const Family& family, const ir::KernelShape& shape,
                const Machine& machine, const Base& base,
                FeatureVector& features);

// What a processor takes for an operator: no tiles, no waves, one loop.

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

// What an operator asks of a server's cores and memory, and how long that
// takes: a roofline over the threads that the operator is worth.

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
  double items = 0;       // Elements split among the threads.
  bool own_threads = false;  // A BLAS: its team is in its rate.
};

/// Threads that an operator is worth: one for every grain of items, as
/// PyTorch's and Eigen's loops split them.
double ThreadsFor(const CpuLoad& load, const Machine& machine);

/// The call, the team if there is one, then the longest of arithmetic, traffic
/// and scalar work: a core computes while it loads.
Base PriceLoad(const CpuLoad& load, const Machine& machine);

/// Bytes that a load moves from and to memory, beyond the caches.
double DramBytes(const CpuLoad& load, const Machine& machine);

/// The load of a sized shape; nothing for families that recommendation models
/// do not have, whose formulas are those of GPUs.
std::optional<CpuLoad> CpuLoadOf(const ir::KernelShape& shape,
                                 const Machine& machine);

/// The price of a family's shape on the machine, by the formula that fits it.
Base BaseOn(const Family& family, const ir::KernelShape& shape,
            const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_CPU_KERNELS_H_
