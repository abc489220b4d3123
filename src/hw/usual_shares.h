// What large kernels sustain on a GPU where nobody measured it: a rule by
// generation, memory and power.
#ifndef STEPCAST_HW_USUAL_SHARES_H_
#define STEPCAST_HW_USUAL_SHARES_H_

#include "hw/device.h"

namespace stepcast::hw {

/// The figures of the rule: shares of datasheet peaks. The built-in values are
/// means over the GPUs that were measured; leaving a GPU out of a fit leaves it
/// out of these, too.
struct ShareRule {
  // FP32 products of linear layers: since Volta with tiles of 128x128 (V100
  // 0.90, A100 0.84), on Pascal of 64x64 (P100 0.70).
  double gemm = 0.87;
  double pascal_gemm = 0.70;
  // GPUs with GDDR memory and 128 lanes per SM: not measured. Every other
  // instruction takes lanes from the products.
  double gddr_gemm = 0.70;
  // FP32 batches of products, which have larger tiles on Pascal (P100 0.86,
  // A100 0.82, V100 0.81).
  double bmm = 0.83;
  // Cards fed by the slot alone (75 W) cannot hold their clock: this share of
  // the above (T4 0.49 and 0.53, P4 0.50 and 0.77).
  double slot_gemm = 0.50;
  double slot_bmm = 0.65;
  // Matrix units (0.69 to 0.82 with stacked memory; 0.60, 0.80, 0.84 with
  // GDDR). Slot cards: as their FP32 products.
  double half = 0.78;
  double gddr_half = 0.75;
  // DRAM: stacked (A100 0.88, V100 0.92, H100 0.89, MI210 0.85), GDDR (A40
  // 0.83, L40S 0.84), and the controllers of Pascal and of slot cards (P100,
  // P4 and T4 0.75).
  double copy = 0.87;
  double gddr_copy = 0.84;
  double early_copy = 0.75;
};

/// Cards fed by the slot alone.
bool IsSlotCard(const Device& device);
/// GPUs whose memory is far from its peak, whatever its type.
bool HasEarlyMemory(const Device& device);

/// Sets every share of a device by the rule.
void ApplyShareRule(const ShareRule& rule, Device& device);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_USUAL_SHARES_H_
