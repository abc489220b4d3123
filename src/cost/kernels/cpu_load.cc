#include "cost/kernels/cpu_load.h"

#include <algorithm>
#include <cmath>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {
namespace {

// Elements that a thread gets at least: at::internal::GRAIN_SIZE of PyTorch.
constexpr double kGrain = 32768;
// FLOP that a thread of a BLAS gets at least: below, packing costs more than it
// gains. A panel of 64 x 64 x 256.
constexpr double kGrainFlops = 2.0 * 64 * 64 * 256;
// Bytes a clock that a core takes from the last cache, whose slices lie all
// over the chip: 10 of Skylake's mesh.
constexpr double kCacheBytesPerClock = 10;
// Rows at random places open a page of DRAM each: of what streams reach.
constexpr double kRowShare = 0.65;

double MoveUs(double bytes, double cached, double dram, double cache) {
  return bytes * ((1 - cached) / dram + cached / cache);
}

}  // namespace

double ThreadsFor(const CpuLoad& load, const Machine& machine) {
  const double wanted =
      load.own_threads ? load.flops / kGrainFlops : load.items / kGrain;
  const double most = machine.sm_count();
  return std::clamp(wanted, std::min(1.0, most), most);
}

Base PriceLoad(const CpuLoad& load, const Machine& machine) {
  constexpr double kBytesPerMicrosecond = 1e3;  // In a GB/s.
  const double threads = ThreadsFor(load, machine);
  const double share = threads / machine.sm_count();
  const double dram =
      std::min(machine.copy_rate(),
               threads * machine.device.core_gbs * kBytesPerMicrosecond);
  const double cache =
      std::max(dram, threads * machine.device.clock_ghz * kBytesPerMicrosecond *
                         kCacheBytesPerClock);
  const double footprint = load.footprint > 0 ? load.footprint : load.bytes;
  const double streams =
      MoveUs(load.bytes, CachedShare(footprint, machine), dram, cache);
  const double rows =
      MoveUs(load.row_bytes, 1 - load.row_misses, kRowShare * dram, cache);
  const double peak = load.peak > 0 ? load.peak : load.rate;
  Base base;
  base.compute_us = load.core_us / threads;
  if (load.flops > 0) {
    base.compute_us =
        std::max(base.compute_us, load.flops / (load.rate * share));
  }
  base.memory_us = streams + rows;
  base.roofline_us =
      std::max(load.flops > 0 ? load.flops / peak : 0,
               DramBytes(load, machine) / machine.peak_dram_rate());
  const double team =
      threads > 1 && !load.own_threads ? machine.device.team_us : 0;
  const double start = LatencyUs(machine) + team + load.serial_us;
  const double longer = std::max(base.compute_us, base.memory_us);
  base.time_us = std::max(start + longer, base.roofline_us);
  if (start > longer) {
    base.bound = Bound::kLatency;
  } else if (base.compute_us > base.memory_us) {
    base.bound = Bound::kCompute;
  } else {
    base.bound = CachedShare(footprint, machine) > 0.5 && rows <= streams
                     ? Bound::kL2
                     : Bound::kDram;
  }
  return base;
}

double DramBytes(const CpuLoad& load, const Machine& machine) {
  const double footprint = load.footprint > 0 ? load.footprint : load.bytes;
  return load.bytes * (1 - CachedShare(footprint, machine)) +
         load.row_bytes * load.row_misses;
}

}  // namespace stepcast::cost
