// What a kernel formula knows: the device and the constants.
#ifndef STEPCAST_COST_MACHINE_H_
#define STEPCAST_COST_MACHINE_H_

#include "cost/constants.h"
#include "cost/profile.h"
#include "hw/device.h"
#include "ir/dtype.h"

namespace stepcast::cost {

// What large kernels sustain on a GPU: as measured there, or as on another card
// of its chip.

/// The ceilings of a profile set on its device.
void ApplyCeilings(const Profile& profile, hw::Device& device);

/// Those of `other`, a card of the same chip, where the device has none of its
/// own. Products get no more than the device's power allows.
void BorrowCeilings(const Profile& profile, const hw::Device& other,
                    hw::Device& device);

/// Those of `fitted`, the device as published, where a device with figures to
/// try has none that were asked for.
void KeepCeilings(const hw::Device& fitted, hw::Device& device);

struct Machine {
  hw::Device device;
  Constants constants{};
  /// A benchmark goes over the same tensors again and again: see CachedShare.
  bool sweeps = false;

  double operator[](Constant id) const { return constants[id]; }
  /// Bytes a microsecond that large streams sustain.
  double copy_rate() const { return device.dram_gbs * 1e3 * device.copy_share; }
  /// Datasheet bytes per microsecond: no stream is faster.
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
