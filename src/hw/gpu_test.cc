#include "hw/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::hw {
namespace {

using ::testing::HasSubstr;

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
  ASSERT_TRUE(gpu->sm_count.has_value());
  EXPECT_EQ(gpu->sm_count->value, 80);
  EXPECT_EQ(gpu->sm_count->source, "datasheet");
  EXPECT_FALSE(gpu->l2_mb.has_value());
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
  EXPECT_EQ(cpu->dram_gbs->value, 0.9);
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

}  // namespace
}  // namespace stepcast::hw
