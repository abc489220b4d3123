#include "hw/usual_shares.h"

namespace stepcast::hw {

bool IsSlotCard(const Device& device) {
  constexpr double kSlotWatts = 75;
  return device.tdp_w <= kSlotWatts;
}

bool HasEarlyMemory(const Device& device) {
  return device.generation == Generation::kPascal || IsSlotCard(device);
}

void ApplyShareRule(const ShareRule& rule, Device& device) {
  const bool slot = IsSlotCard(device);
  double gemm = rule.gemm;
  if (device.generation == Generation::kPascal) {
    gemm = rule.pascal_gemm;
  } else if (!device.stacked_memory && !slot) {
    gemm = rule.gddr_gemm;
  }
  device.gemm_fp32_share = gemm * (slot ? rule.slot_gemm : 1);
  device.bmm_fp32_share = rule.bmm * (slot ? rule.slot_bmm : 1);
  // Convolutions keep the lanes as busy as batches of products do.
  device.conv_fp32_share = device.bmm_fp32_share;
  const double half = device.stacked_memory ? rule.half : rule.gddr_half;
  device.gemm_half_share = half * (slot ? rule.slot_gemm : 1);
  device.copy_share = device.stacked_memory ? rule.copy : rule.gddr_copy;
  if (HasEarlyMemory(device)) {
    device.copy_share = rule.early_copy;
  }
}

}  // namespace stepcast::hw
