// The rates that Lin et al. (2022, 2024) give to their formulas.
#ifndef STEPCAST_COST_KERNELS_LIN2022_PEAKS_H_
#define STEPCAST_COST_KERNELS_LIN2022_PEAKS_H_

#include "cost/machine.h"

namespace stepcast::cost {

/// In units a microsecond.
struct Lin2022Peaks {
  double dram_rate = 0;  // Bytes.
  double l2_rate = 0;    // Bytes.
  double pcie_rate = 0;  // Bytes, one direction.
  double flop_rate = 0;
};

/// What the authors measured with gpuroofperf on the GPU, at the clocks they
/// locked; on others what large kernels sustain, which is the same in spirit.
Lin2022Peaks Lin2022PeaksOf(const Machine& machine);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_LIN2022_PEAKS_H_
