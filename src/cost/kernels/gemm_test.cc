#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cost/kernels/families.h"
#include "cost/kernels/gemm_tiles.h"
#include "cost/machine_testing.h"

namespace stepcast::cost {
namespace {

using ir::DType;
using ir::Gemm;

double TimeUs(const Gemm& gemm, const Machine& machine) {
  return GemmBase(gemm, machine).time_us;
}

std::vector<float> FeaturesOf(const Gemm& gemm, const Machine& machine) {
  FeatureVector features;
  GemmFeatures(gemm, machine, GemmBase(gemm, machine), features);
  return {features.values().begin(), features.values().end()};
}

// The dimensions of a product, to go through them.
constexpr std::array kDimensions = {&Gemm::batch, &Gemm::m, &Gemm::n, &Gemm::k};

// Products from tiny to huge, in every type, single and batched.
std::vector<Gemm> Products() {
  std::vector<Gemm> products;
  for (const DType dtype : {DType::kFp32, DType::kTf32, DType::kBf16}) {
    for (const int64_t m : {2, 27, 200, 2048, 20000}) {
      for (const int64_t n : {3, 64, 479, 4096}) {
        for (const int64_t k : {2, 13, 128, 1000, 30000}) {
          for (const int64_t batch : {1, 2, 300}) {
            products.push_back(
                {.batch = batch, .m = m, .n = n, .k = k, .dtype = dtype});
          }
        }
      }
    }
  }
  return products;
}

class EveryGpu : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryGpu, TimeGrowsWithEveryDimension) {
  const Machine machine = On(GetParam());
  for (const Gemm& small : Products()) {
    for (const auto dimension : kDimensions) {
      if (dimension == &Gemm::batch && small.batch == 1) {
        continue;  // One matrix and many have different kernels.
      }
      Gemm large = small;
      large.*dimension *= 2;
      EXPECT_GE(TimeUs(large, machine), TimeUs(small, machine) * (1 - 1e-9))
          << ir::ShapeText(small) << " -> " << ir::ShapeText(large);
    }
  }
}

TEST_P(EveryGpu, TimeGrowsInSmallSteps) {
  const Machine machine = On(GetParam());
  for (const auto dimension : {&Gemm::m, &Gemm::n, &Gemm::k}) {
    for (const DType dtype : {DType::kFp32, DType::kFp16}) {
      Gemm gemm{.batch = 1, .m = 264, .n = 520, .k = 776, .dtype = dtype};
      double before = 0;
      for (gemm.*dimension = 8; gemm.*dimension < 6000; gemm.*dimension += 8) {
        const double time = TimeUs(gemm, machine);
        ASSERT_GE(time, before * (1 - 1e-9)) << ir::ShapeText(gemm);
        // From one size to the next there is a wave more at most.
        if (before > 0) {
          ASSERT_LT(time, before * 2) << ir::ShapeText(gemm);
        }
        before = time;
      }
    }
  }
}

TEST_P(EveryGpu, NoTimeIsBelowTheRoofline) {
  const Machine machine = On(GetParam());
  for (const Gemm& gemm : Products()) {
    const Base base = GemmBase(gemm, machine);
    const double flops =
        2.0 * static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) *
        static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
    EXPECT_GE(base.roofline_us, flops / machine.peak_gemm_rate(gemm.dtype));
    EXPECT_GE(base.time_us, base.roofline_us) << ir::ShapeText(gemm);
    EXPECT_GT(base.time_us, 1) << ir::ShapeText(gemm);
    EXPECT_TRUE(std::isfinite(base.time_us)) << ir::ShapeText(gemm);
  }
}

TEST_P(EveryGpu, LargeProductsReachTheSustainedRate) {
  const Machine machine = On(GetParam());
  for (const DType dtype : {DType::kFp32, DType::kBf16}) {
    const Gemm gemm{
        .batch = 1, .m = 8192, .n = 8192, .k = 2048, .dtype = dtype};
    const double ideal =
        2.0 * 8192 * 8192 * 2048 / machine.gemm_rate(gemm.dtype);
    EXPECT_GT(TimeUs(gemm, machine), 0.97 * ideal);
    EXPECT_LT(TimeUs(gemm, machine), 1.25 * ideal);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, EveryGpu,
                         testing::Values("p4", "p100-pcie-16gb", "titan-xp",
                                         "v100-sxm-16gb", "t4", "rtx-2080-ti",
                                         "a100-sxm-80gb", "a40", "l40s",
                                         "h100-sxm-80gb", "b200-sxm-180gb",
                                         "mi300x"),
                         [](const auto& gpu) {
                           std::string name(gpu.param);
                           std::erase(name, '-');
                           return name;
                         });

// What large products and copies sustain on the V100 of the measured rows.
Machine MeasuredV100() {
  Machine machine = On("v100-sxm-16gb@1297MHz");
  machine.device.gemm_fp32_share = 0.895;
  machine.device.bmm_fp32_share = 0.804;
  machine.device.copy_share = 0.925;
  return machine;
}

TEST(GemmTest, LayersOfDlrmOnV100) {
  // Lin et al., traces of DLRM at batch 2048 with clocks locked: forward, data
  // gradient, weight gradient. None was used to fit a constant.
  struct Anchor {
    Gemm gemm;
    double measured_us = 0;
  };
  const std::vector<Anchor> anchors = {
      {{.batch = 1, .m = 2048, .n = 1024, .k = 1024}, 438.7},
      {{.batch = 1, .m = 2048, .n = 1024, .k = 479}, 203.6},
      {{.batch = 1, .m = 2048, .n = 512, .k = 512}, 122.4},
      {{.batch = 1, .m = 2048, .n = 512, .k = 256}, 58.7},
      {{.batch = 1, .m = 1024, .n = 1024, .k = 2048}, 372.9},
  };
  const Machine machine = MeasuredV100();
  for (Anchor anchor : anchors) {
    anchor.gemm.dtype = DType::kFp32;
    EXPECT_NEAR(TimeUs(anchor.gemm, machine) / anchor.measured_us, 1, 0.17)
        << ir::ShapeText(anchor.gemm);
  }
}

TEST(GemmTest, ProductsWithVectorsAreStreams) {
  // 2048x256 times a vector: 5 us; an outer product of the same size: 4 us.
  const Machine machine = MeasuredV100();
  EXPECT_NEAR(
      TimeUs({.batch = 1, .m = 2048, .n = 1, .k = 256, .dtype = DType::kFp32},
             machine),
      5, 1.5);
  EXPECT_NEAR(
      TimeUs({.batch = 1, .m = 2048, .n = 256, .k = 1, .dtype = DType::kFp32},
             machine),
      4, 1.5);
}

TEST(GemmTest, BordersOfTilesAreFilledUp) {
  // 128 x 128 is the only tile for batches on A100: 27 columns cost as many.
  const Machine machine = On("a100-sxm-80gb");
  const Gemm full{
      .batch = 4096, .m = 128, .n = 128, .k = 512, .dtype = DType::kFp32};
  Gemm part = full;
  part.n = 27;
  EXPECT_NEAR(
      GemmBase(part, machine).compute_us / GemmBase(full, machine).compute_us,
      1, 1e-9);
}

TEST(GemmTest, LastWaveIsLostWithoutSplitting) {
  // 81 tiles of 128 x 64 on 80 SMs, one matrix after the other.
  const GemmTile tile{.n = 128, .m = 64};
  EXPECT_DOUBLE_EQ(TilesPerSm(1, 64, 128 * 81, tile, 80), 81.0 / 80);
  EXPECT_DOUBLE_EQ(TilesPerSm(2, 65, 1, tile, 4), 1);
}

TEST(GemmTest, MatrixUnitsTakeHalfTypesWhereThereAreAny) {
  EXPECT_FALSE(OnMatrixUnits(DType::kFp32, On("a100-sxm-80gb")));
  EXPECT_TRUE(OnMatrixUnits(DType::kTf32, On("a100-sxm-80gb")));
  EXPECT_TRUE(OnMatrixUnits(DType::kFp16, On("v100-sxm-16gb")));
  EXPECT_FALSE(OnMatrixUnits(DType::kTf32, On("v100-sxm-16gb")));
  EXPECT_FALSE(OnMatrixUnits(DType::kFp16, On("p100-pcie-16gb")));
}

TEST(GemmTest, LongRowsAreSlowOnPascal) {
  const Gemm gemm{
      .batch = 1, .m = 4096, .n = 4096, .k = 32768, .dtype = DType::kFp32};
  const double flops = 2.0 * 4096 * 4096 * 32768;
  const Machine pascal = On("p100-pcie-16gb");
  EXPECT_GT(TimeUs(gemm, pascal), 2 * flops / pascal.gemm_rate(DType::kFp32));
  const Machine volta = On("v100-sxm-16gb");
  EXPECT_LT(TimeUs(gemm, volta), 1.2 * flops / volta.gemm_rate(DType::kFp32));
}

TEST(GemmTest, ShortKernelsOfSmallCardsRunAtBurstClocks) {
  Machine machine = On("t4");
  const Gemm gemm{
      .batch = 1, .m = 512, .n = 512, .k = 512, .dtype = DType::kFp32};
  const double burst = TimeUs(gemm, machine);
  machine.device.tdp_w = 250;
  EXPECT_LT(burst, 0.85 * TimeUs(gemm, machine));
}

TEST(GemmTest, FeaturesAreAsManyForAllAndShowAlignment) {
  const Machine machine = On("a100-sxm-80gb");
  const Gemm aligned{
      .batch = 1, .m = 2048, .n = 512, .k = 32, .dtype = DType::kFp32};
  Gemm odd = aligned;
  odd.k = 33;
  Gemm half = aligned;
  half.dtype = DType::kBf16;
  const std::vector<float> features = FeaturesOf(aligned, machine);
  EXPECT_EQ(features.size(), 41u);
  EXPECT_EQ(FeaturesOf(half, machine).size(), 41u);
  EXPECT_EQ(features[14], 5);  // 32 divides all three.
  EXPECT_EQ(FeaturesOf(odd, machine)[14], 0);
  EXPECT_EQ(features[11], 6);  // No more than 64 counts.
}

}  // namespace
}  // namespace stepcast::cost
