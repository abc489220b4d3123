#include "cost/machine.h"

#include <cmath>

#include <gtest/gtest.h>

#include "cost/machine_testing.h"

namespace stepcast::cost {
namespace {

Profile WithShares() {
  Profile profile;
  profile.ceilings["gemm_fp32_share"] = 0.9;
  profile.ceilings["copy_share"] = 0.8;
  return profile;
}

TEST(CeilingsTest, AreThoseOfTheProfileWhereItHasAny) {
  hw::Device device = On("v100-pcie-32gb").device;
  const double before = device.bmm_fp32_share;
  ApplyCeilings(WithShares(), device);
  EXPECT_EQ(device.gemm_fp32_share, 0.9);
  EXPECT_EQ(device.copy_share, 0.8);
  EXPECT_EQ(device.bmm_fp32_share, before);
}

// 300 W instead of 250 at 1530 MHz instead of 1380: the cube root of 1.2 is
// 1.063, the clock 1.109 times as high. Memory does not care.
TEST(CeilingsTest, ProductsAreNotFasterThanPowerAllows) {
  hw::Device device = On("v100-sxm-32gb").device;
  BorrowCeilings(WithShares(), On("v100-pcie-32gb").device, device);
  EXPECT_NEAR(device.gemm_fp32_share, 0.9 * std::cbrt(1.2) / (1530.0 / 1380),
              1e-9);
  EXPECT_EQ(device.copy_share, 0.8);
}

TEST(CeilingsTest, MorePowerAtTheSameClockGainsNothing) {
  hw::Device device = On("a100-sxm-40gb").device;
  BorrowCeilings(WithShares(), On("a100-pcie-40gb").device, device);
  EXPECT_EQ(device.gemm_fp32_share, 0.9);
}

TEST(CeilingsTest, ALockedClockIsHeld) {
  hw::Device device = On("v100-sxm-16gb@1297MHz").device;
  BorrowCeilings(WithShares(), On("v100-pcie-32gb").device, device);
  EXPECT_EQ(device.gemm_fp32_share, 0.9);
}

}  // namespace
}  // namespace stepcast::cost
