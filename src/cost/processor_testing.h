// A processor for tests, with figures that are easy to reckon with.
#ifndef STEPCAST_COST_PROCESSOR_TESTING_H_
#define STEPCAST_COST_PROCESSOR_TESTING_H_

#include "cost/machine.h"

namespace stepcast::cost {

/// One thread: products at 50 GFLOP/s of 100, batches of them at 25,
/// convolutions at 100; 10 GB/s of 10.
inline Machine ProcessorForTests() {
  Machine machine;
  machine.device.generation = hw::Generation::kCpu;
  machine.device.sm_count = 1;
  machine.device.clock_ghz = 2;
  machine.device.fp32_tflops = 0.1;
  machine.device.gemm_fp32_share = 0.5;
  machine.device.bmm_fp32_share = 0.25;
  machine.device.conv_fp32_share = 1;
  machine.device.dram_gbs = 10;
  machine.device.copy_share = 1;
  machine.device.l2_mb = 1;
  return machine;
}

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_PROCESSOR_TESTING_H_
