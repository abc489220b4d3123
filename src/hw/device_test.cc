#include "hw/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::hw {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Gpu SmallVolta() {
  Gpu gpu;
  gpu.name = "x";
  gpu.generation = Generation::kVolta;
  gpu.dram_type = "HBM2";
  gpu.sm_count = Figure{.value = 10, .source = "test"};
  gpu.fp32_lanes_per_sm = Figure{.value = 64, .source = "test"};
  return gpu;
}

TEST(MakeDevice, DerivesTheClockFromThePeakAndTheReverse) {
  Gpu gpu = SmallVolta();
  gpu.fp32_tflops = Figure{.value = 1.28, .source = "test"};
  EXPECT_NEAR(MakeDevice(gpu, nullptr).clock_ghz, 1.0, 1e-9);
  gpu = SmallVolta();
  gpu.max_clock_mhz = Figure{.value = 2000, .source = "test"};
  EXPECT_NEAR(MakeDevice(gpu, nullptr).fp32_tflops, 2.56, 1e-9);
  gpu = SmallVolta();
  gpu.fp16_tflops = Figure{.value = 10.24, .source = "test"};
  EXPECT_NEAR(MakeDevice(gpu, nullptr).clock_ghz, 1.0, 1e-9);
}

TEST(MakeDevice, TakesWhatIsUnknownFromTheGpuLikeIt) {
  const Gpu gpu = SmallVolta();
  Gpu like = SmallVolta();
  like.name = "y";
  like.l2_mb = Figure{.value = 7, .source = "test"};
  const Device device = MakeDevice(gpu, &like);
  EXPECT_EQ(device.l2_mb, 7);
  EXPECT_THAT(device.derived, Contains("l2_mb: as y"));
  EXPECT_THAT(device.derived, Contains(HasSubstr("smem_per_sm_kb: usual")));
}

TEST(MakeDevice, GivesHalfPrecisionTheVectorRateWithoutMatrixUnits) {
  Gpu gpu = SmallVolta();
  gpu.max_clock_mhz = Figure{.value = 1000, .source = "test"};
  const Device device = MakeDevice(gpu, nullptr);
  EXPECT_EQ(device.bf16_tflops, device.fp32_tflops);
  EXPECT_EQ(device.tf32_tflops, device.fp32_tflops);
}

TEST(WithClock, ScalesThePeaksAndNotTheMemory) {
  Gpu gpu = SmallVolta();
  gpu.max_clock_mhz = Figure{.value = 1000, .source = "test"};
  const Device full = MakeDevice(gpu, nullptr);
  const Device half = WithClock(full, 500);
  EXPECT_NEAR(half.fp32_tflops, full.fp32_tflops / 2, 1e-9);
  EXPECT_EQ(half.dram_gbs, full.dram_gbs);
  EXPECT_EQ(half.name, "x@500MHz");
}

TEST(WithClock, LargeProductsKeepTheirRateWhileUnitsLast) {
  Gpu gpu = SmallVolta();
  gpu.max_clock_mhz = Figure{.value = 1000, .source = "test"};
  Device full = MakeDevice(gpu, nullptr);
  full.gemm_fp32_share = 0.6;
  const auto rate = [](const Device& device) {
    return device.fp32_tflops * device.gemm_fp32_share;
  };
  EXPECT_NEAR(rate(WithClock(full, 800)), rate(full), 1e-9);
  EXPECT_LT(rate(WithClock(full, 500)), rate(full) * 0.8);
}

}  // namespace
}  // namespace stepcast::hw
