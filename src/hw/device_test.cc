#include "hw/device.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::hw {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Device SmallVolta() {
  Device gpu;
  gpu.name = "x";
  gpu.generation = Generation::kVolta;
  gpu.dram_type = "HBM2";
  gpu.figures["sm_count"] = {.value = 10, .source = "test"};
  gpu.figures["fp32_lanes_per_sm"] = {.value = 64, .source = "test"};
  return gpu;
}

TEST(MakeDevice, DerivesTheClockFromThePeakAndTheReverse) {
  Device gpu = SmallVolta();
  gpu.figures["fp32_tflops"] = {.value = 1.28, .source = "test"};
  EXPECT_NEAR(MakeDevice(gpu, nullptr).clock_ghz, 1.0, 1e-9);
  gpu = SmallVolta();
  gpu.figures["max_clock_mhz"] = {.value = 2000, .source = "test"};
  EXPECT_NEAR(MakeDevice(gpu, nullptr).fp32_tflops, 2.56, 1e-9);
  gpu = SmallVolta();
  gpu.figures["fp16_tflops"] = {.value = 10.24, .source = "test"};
  EXPECT_NEAR(MakeDevice(gpu, nullptr).clock_ghz, 1.0, 1e-9);
}

TEST(MakeDevice, TakesWhatIsUnknownFromTheGpuLikeIt) {
  const Device gpu = SmallVolta();
  Device like = SmallVolta();
  like.name = "y";
  like.figures["l2_mb"] = {.value = 7, .source = "test"};
  const Device device = MakeDevice(gpu, &like);
  EXPECT_EQ(device.l2_mb, 7);
  EXPECT_THAT(device.derived, Contains("l2_mb: as y"));
  EXPECT_THAT(device.derived, Contains(HasSubstr("smem_per_sm_kb: usual")));
}

TEST(MakeDevice, GivesHalfPrecisionTheVectorRateWithoutMatrixUnits) {
  Device gpu = SmallVolta();
  gpu.figures["max_clock_mhz"] = {.value = 1000, .source = "test"};
  const Device device = MakeDevice(gpu, nullptr);
  EXPECT_EQ(device.bf16_tflops, device.fp32_tflops);
  EXPECT_EQ(device.tf32_tflops, device.fp32_tflops);
}

TEST(WithClock, ScalesThePeaksAndNotTheMemory) {
  Device gpu = SmallVolta();
  gpu.figures["max_clock_mhz"] = {.value = 1000, .source = "test"};
  const Device full = MakeDevice(gpu, nullptr);
  const Device half = WithClock(full, 500);
  EXPECT_NEAR(half.fp32_tflops, full.fp32_tflops / 2, 1e-9);
  EXPECT_EQ(half.dram_gbs, full.dram_gbs);
  EXPECT_EQ(half.name, "x@500MHz");
}

TEST(WithClock, LargeProductsKeepTheirRateWhileUnitsLast) {
  Device gpu = SmallVolta();
  gpu.figures["max_clock_mhz"] = {.value = 1000, .source = "test"};
  Device full = MakeDevice(gpu, nullptr);
  full.gemm_fp32_share = 0.6;
  const auto rate = [](const Device& device) {
    return device.fp32_tflops * device.gemm_fp32_share;
  };
  EXPECT_NEAR(rate(WithClock(full, 800)), rate(full), 1e-9);
  EXPECT_LT(rate(WithClock(full, 500)), rate(full) * 0.8);
}

constexpr std::string_view kSmall = R"(name = "x"
title = "X"
generation = "volta"
chip = "GX"
sm_count = { value = 80, source = "datasheet" }
)";

TEST(ParseGpu, ReadsFiguresWithTheirSource) {
  const auto gpu = ParseGpu(kSmall, "x.toml");
  ASSERT_TRUE(gpu.has_value()) << gpu.error().message;
  EXPECT_EQ(gpu->generation, Generation::kVolta);
  ASSERT_TRUE(gpu->figures.contains("sm_count"));
  EXPECT_EQ(gpu->figures.at("sm_count").value, 80);
  EXPECT_EQ(gpu->figures.at("sm_count").source, "datasheet");
  EXPECT_FALSE(gpu->figures.contains("l2_mb"));
}

TEST(ParseGpu, NamesTheLineOfAFigureOutOfRange) {
  const std::string text =
      std::string(kSmall) + "dram_gbs = { value = 0.9, source = \"TB/s\" }\n";
  const auto gpu = ParseGpu(text, "x.toml");
  ASSERT_FALSE(gpu.has_value());
  EXPECT_EQ(gpu.error().message,
            "x.toml:6: dram_gbs is 0.9; expected 20 to 100000 GB/s");
}

TEST(ParseGpu, AProcessorMayBeSlow) {
  const auto cpu = ParseGpu(
      "name = \"x\"\ntitle = \"X\"\ngeneration = \"cpu\"\nchip = \"X\"\n"
      "fp32_tflops = { value = 0.005, source = \"measured\" }\n"
      "dram_gbs = { value = 0.9, source = \"measured\" }\n",
      "x.toml");
  ASSERT_TRUE(cpu.has_value()) << cpu.error().message;
  EXPECT_EQ(cpu->generation, Generation::kCpu);
  EXPECT_EQ(ValueOf(cpu->figures, "dram_gbs"), 0.9);
}

TEST(ParseGpu, RefusesWhatItDoesNotKnow) {
  const std::string text =
      std::string(kSmall) + "warp_size = { value = 32, source = \"a\" }\n";
  const auto gpu = ParseGpu(text, "x.toml");
  ASSERT_FALSE(gpu.has_value());
  EXPECT_THAT(gpu.error().message, HasSubstr("unknown key 'warp_size'"));
}

TEST(ParseGpu, WantsASourceForEveryFigure) {
  const std::string text = std::string(kSmall) + "l2_mb = { value = 6 }\n";
  const auto gpu = ParseGpu(text, "x.toml");
  ASSERT_FALSE(gpu.has_value());
  EXPECT_THAT(gpu.error().message, HasSubstr("'source' is missing"));
}

TEST(ParseGpu, ListsTheGenerations) {
  const auto gpu = ParseGpu(
      "name=\"x\"\ntitle=\"X\"\nchip=\"G\"\ngeneration=\"tesla\"\n", "x.toml");
  ASSERT_FALSE(gpu.has_value());
  EXPECT_THAT(gpu.error().message, HasSubstr("pascal, volta, turing"));
}

TEST(LoadGpus, EveryFileIsSane) {
  const auto gpus = LoadGpus();
  ASSERT_TRUE(gpus.has_value()) << gpus.error().message;
  EXPECT_GE(gpus->size(), 35u);
  for (const Device& gpu : *gpus) {
    SCOPED_TRACE(gpu.name);
    const Device* device = &gpu;
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
