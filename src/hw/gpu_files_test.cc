#include "hw/gpu_files.h"

#include <cmath>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::hw {
namespace {

using ::testing::HasSubstr;

TEST(LoadGpus, EveryFileIsSane) {
  const auto gpus = LoadGpus();
  ASSERT_TRUE(gpus.has_value()) << gpus.error().message;
  EXPECT_GE(gpus->size(), 35u);
  for (const Gpu& gpu : *gpus) {
    SCOPED_TRACE(gpu.name);
    const auto device = FindDevice(gpu.name);
    ASSERT_TRUE(device.has_value()) << device.error().message;
    EXPECT_GT(device->sm_count, 10);
    // Peak, lanes and clock tell the same story. CDNA 3 and later count two
    // multiply-adds a lane and clock.
    const double by_lanes = 2 * device->sm_count * device->fp32_lanes_per_sm *
                            device->clock_ghz / 1e3;
    const double ratio = device->fp32_tflops / by_lanes;
    EXPECT_TRUE(std::abs(ratio - 1) < 0.16 || std::abs(ratio - 2) < 0.02)
        << ratio;
    EXPECT_GE(device->fp16_tflops, device->fp32_tflops);
    EXPECT_GT(device->dram_gbs, 100);
    EXPECT_GT(device->l2_mb, 1);
    EXPECT_GE(device->pcie_gbs, 15);
    EXPECT_GT(device->copy_share, 0.3);
    EXPECT_LE(device->copy_share, 1);
  }
}

TEST(FindDevice, LocksTheClock) {
  const auto device = FindDevice("v100-sxm-16gb@1297MHz");
  ASSERT_TRUE(device.has_value()) << device.error().message;
  EXPECT_NEAR(device->fp32_tflops, 15.7 * 1297 / 1530, 1e-9);
}

TEST(FindDevice, FiguresReplaceItsOwnAndThePublishedOnesAreKept) {
  const auto device = FindDevice("h100-sxm-80gb@dram_gbs=6700,pcie_gbs=20");
  ASSERT_TRUE(device.has_value()) << device.error().message;
  EXPECT_EQ(device->dram_gbs, 6700);
  EXPECT_EQ(device->pcie_gbs, 20);
  EXPECT_EQ(device->name, "h100-sxm-80gb@dram_gbs=6700,pcie_gbs=20");
  ASSERT_NE(device->published, nullptr);
  EXPECT_EQ(device->published->dram_gbs, 3350);
  EXPECT_EQ(FindDevice("h100-sxm-80gb")->published, nullptr);
  const auto locked = FindDevice("v100-sxm-16gb@1297MHz,l2_mb=12");
  ASSERT_TRUE(locked.has_value()) << locked.error().message;
  EXPECT_NEAR(locked->clock_ghz, 1.297, 1e-9);
  EXPECT_NEAR(locked->published->clock_ghz, 1.297, 1e-9);
  for (const char* text :
       {"t4@", "t4@dram", "t4@dram_gbs=", "t4@dram_gbs=x", "t4@l2_mb=1,"}) {
    EXPECT_FALSE(FindDevice(text).has_value()) << text;
  }
}

TEST(FindDevice, ListsTheKnownNames) {
  const auto device = FindDevice("v100");
  ASSERT_FALSE(device.has_value());
  EXPECT_THAT(device.error().message, HasSubstr("unknown GPU 'v100'"));
  EXPECT_THAT(device.error().message, HasSubstr("v100-pcie-32gb"));
}

TEST(FindDevice, RefusesANonsenseClock) {
  EXPECT_FALSE(FindDevice("v100-sxm-16gb@fast").has_value());
  EXPECT_FALSE(FindDevice("v100-sxm-16gb@1.3").has_value());
}

}  // namespace
}  // namespace stepcast::hw
