#include "hw/usual_shares.h"

#include <gtest/gtest.h>

namespace stepcast::hw {
namespace {

Device Card(Generation generation, bool stacked_memory, double tdp_w) {
  Device device;
  device.generation = generation;
  device.stacked_memory = stacked_memory;
  device.tdp_w = tdp_w;
  ApplyShareRule(ShareRule(), device);
  return device;
}

TEST(ApplyShareRule, GivesPascalAndSlotCardsLess) {
  const Device volta = Card(Generation::kVolta, true, 250);
  const Device pascal = Card(Generation::kPascal, true, 250);
  const Device slot = Card(Generation::kTuring, false, 70);
  EXPECT_LT(pascal.gemm_fp32_share, volta.gemm_fp32_share);
  EXPECT_EQ(pascal.bmm_fp32_share, volta.bmm_fp32_share);
  EXPECT_LT(slot.gemm_fp32_share, pascal.gemm_fp32_share);
  EXPECT_EQ(slot.copy_share, pascal.copy_share);
  EXPECT_LT(slot.copy_share, volta.copy_share);
}

TEST(ApplyShareRule, DistinguishesMemories) {
  const Device stacked = Card(Generation::kAmpere, true, 300);
  const Device gddr = Card(Generation::kAmpere, false, 300);
  EXPECT_LT(gddr.copy_share, stacked.copy_share);
  EXPECT_LT(gddr.gemm_half_share, stacked.gemm_half_share);
}

}  // namespace
}  // namespace stepcast::hw
