// What a GPU sustains when its warps gather rows, one row in flight each.
//
// Shares and latencies are of V100 kernels unless said otherwise; see
// docs/models/embedding.md for the rows they are from.
#ifndef STEPCAST_COST_KERNELS_EMBEDDING_GATHER_H_
#define STEPCAST_COST_KERNELS_EMBEDDING_GATHER_H_

#include <algorithm>

#include "cost/machine.h"

namespace stepcast::cost {

/// From the start of a kernel to its first loads, and from its last stores to
/// its end.
inline constexpr double kGatherStartUs = 2.5;

/// One load that hits L2, or that goes to DRAM, as a warp sees it: the slope of
/// a lookup's time over the length of its bags, tables in L2 or cold.
inline constexpr double kL2LoadUs = 0.23;
inline constexpr double kDramLoadUs = 0.60;

/// Loads one after the other before a bag's first row: its table, where it
/// begins and ends, its ids.
inline constexpr double kLoadsBeforeRows = 4;

/// How well DRAM, L2 and the loads of warps hide behind one another.
inline constexpr double kGatherOverlap = 4;

/// Warps active on an SM: all that fit while rows are narrow; the sums of wide
/// rows take registers, so that there are half as many at 640 columns.
inline double WarpsFor(double most, double columns) {
  constexpr double kColumnsAWarp = 128;  // 4 a thread.
  constexpr double kHalvedAt = 4;        // So many times more.
  const double more = std::max(columns / kColumnsAWarp - 1, 0.0);
  return most / (1 + more / kHalvedAt);
}

/// Bytes a microsecond.
struct GatherRates {
  double read = 0;    // Rows from DRAM, in any order, and ids.
  double output = 0;  // A dense output to DRAM.
  double update = 0;  // Rows back to DRAM that were read before.
  double l2 = 0;      // Between L2 and all SMs.
};

inline GatherRates RatesOf(const Machine& machine) {
  // Reads alone do better than a copy, which turns the bus around.
  constexpr double kReadOverCopy = 1.06;
  constexpr double kMostOfPeak = 0.95;
  constexpr double kOutputOverCopy = 0.92;
  constexpr double kUpdateOverCopy = 0.80;
  constexpr double kL2BytesAClock = 16;  // Of an SM.
  const double copy = machine.copy_rate();
  return {.read = std::min(kReadOverCopy * copy,
                           kMostOfPeak * machine.peak_dram_rate()),
          .output = kOutputOverCopy * copy,
          .update = kUpdateOverCopy * copy,
          .l2 = machine.sm_count() * machine.device.clock_ghz * 1e3 *
                kL2BytesAClock};
}

/// The part of L2 that keeps rows; the rest goes to what streams past.
inline double CacheBytes(const Machine& machine) {
  constexpr double kL2ShareForRows = 0.8;
  return kL2ShareForRows * machine.l2_bytes();
}

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_EMBEDDING_GATHER_H_
