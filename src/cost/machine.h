// What a kernel formula knows: the device and the constants.
#ifndef STEPCAST_COST_MACHINE_H_
#define STEPCAST_COST_MACHINE_H_

#include "cost/constants.h"
#include "hw/device.h"
#include "ir/dtype.h"

namespace stepcast::cost {

struct Machine {
  hw::Device device;
  Constants constants{};
  /// A benchmark goes over the same tensors again and again: see CachedShare.
  bool sweeps = false;

  double operator[](Constant id) const { return constants[id]; }
  /// Bytes a microsecond that large streams sustain.
  double copy_rate() const { return device.dram_gbs * 1e3 * device.copy_share; }
  /// Datasheet bytes a microsecond: no stream is faster.
  double peak_dram_rate() const { return device.dram_gbs * 1e3; }
  /// Datasheet FLOP a microsecond of matrix products in `dtype`.
  double peak_gemm_rate(ir::DType dtype) const;
  /// What large matrix products sustain.
  double gemm_rate(ir::DType dtype) const;
  /// The same of batches of small products, and of convolutions.
  double batched_gemm_rate(ir::DType dtype) const;
  double convolution_rate(ir::DType dtype) const;
  /// Datasheet FLOP a microsecond of the vector units.
  double vector_rate() const { return device.fp32_tflops * 1e6; }
  double l2_bytes() const { return device.l2_mb * 1e6; }
  double sm_count() const { return device.sm_count; }
};

inline bool IsCdna(const Machine& machine) {
  return machine.device.generation == hw::Generation::kCdna;
}

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_MACHINE_H_
