// Kernels in which a block of threads processes one row of a matrix: softmax
// and normalisation.
#ifndef STEPCAST_COST_KERNELS_ROW_KERNEL_H_
#define STEPCAST_COST_KERNELS_ROW_KERNEL_H_

#include "cost/kernels/family.h"

namespace stepcast::cost {

struct RowKernel {
  double rows = 0;
  double columns = 0;
  double element_bytes = 4;
  double threads = 128;   // Of a block.
  double tensors = 2;     // Read or written once whatever the caches do.
  double rereads = 0;     // Tensors read again, from L1 while the rows active
                          // fit into it.
  double row_cycles = 0;  // Of an SM for a row, its waits shared with the other
                          // rows active.
  double l1_share = 1;    // Of L1 that the rows active may fill.
  double latencies = 1;   // In units of LatencyUs.
};

/// The estimate: memory_us is the traffic, compute_us the SMs' own work.
Base RowBase(const RowKernel& kernel, const Machine& machine);

/// What corrections of row kernels are learned from.
void AddRowFeatures(const RowKernel& kernel, const Machine& machine,
                    const Base& base, FeatureVector& features);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_ROW_KERNEL_H_
