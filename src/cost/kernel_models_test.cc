#include "cost/kernel_models.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/machine_testing.h"

namespace stepcast::cost {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const ir::KernelShape product_shape = ir::Gemm{.batch = 1,
                                               .m = 2048,
                                               .n = 1024,
                                               .k = 1024,
                                               .transpose_b = true,
                                               .dtype = ir::DType::kFp32};

// A directory of profiles that goes with the test.
class KernelModelsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        fs::path(::testing::TempDir()) /
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "titan-xp");
  }
  void TearDown() override { fs::remove_all(directory_); }

  void Write(const char* name, std::string_view text) {
    std::ofstream(directory_ / "titan-xp" / name) << text;
  }
  Result<KernelModels> Load() const {
    return KernelModels::Load(On("titan-xp").device,
                              ProfileStore({directory_}));
  }

 private:
  fs::path directory_;
};

TEST_F(KernelModelsTest, AGpuWithoutDataIsExtrapolated) {
  const auto models = Load();
  ASSERT_TRUE(models.has_value()) << models.error().message;
  const auto estimate = models->Price(product_shape);
  ASSERT_TRUE(estimate.has_value());
  EXPECT_EQ(estimate->origin, Origin::kExtrapolated);
  EXPECT_EQ(estimate->model, "gemm-formula");
  EXPECT_LT(estimate->p10_us, estimate->p50_us);
  EXPECT_GT(estimate->p90_us, estimate->p50_us);
}

// 2 FLOP for a multiplication and its sum; each input and result once.
TEST_F(KernelModelsTest, APriceSaysWhatItIsFor) {
  const auto models = Load();
  ASSERT_TRUE(models) << models.error().message;
  const auto base_of = [&](const ir::KernelShape& shape) {
    return models->Price(shape)->base;
  };

  const Base product = base_of(product_shape);
  EXPECT_EQ(product.flops, 2.0 * 2048 * 1024 * 1024);
  EXPECT_EQ(product.bytes, 4.0 * (2 * 2048 * 1024 + 1024 * 1024));
  // 8 images of 16 x 16, 3 x 3 windows of 32 channels into 64. Winograd's
  // algorithms do not change what is asked for.
  ir::Convolution convolution{.batch = 8,
                              .in_channels = 32,
                              .height = 16,
                              .width = 16,
                              .out_channels = 64,
                              .kernel_height = 3,
                              .kernel_width = 3,
                              .padding = 1,
                              .dtype = ir::DType::kFp32};
  const double forward = 2.0 * 8 * 16 * 16 * 9 * 32 * 64;
  EXPECT_EQ(base_of(convolution).flops, forward);
  convolution.pass = ir::Pass::kBackward;
  EXPECT_EQ(base_of(convolution).flops, 2 * forward);
  // The means of 1000 rows of 64 read all and write 1000.
  const Base means = base_of(ir::Reduction{
      .inputs = 64000, .outputs = 1000, .dtype = ir::DType::kFp32});
  EXPECT_EQ(means.flops, 0);
  EXPECT_EQ(means.bytes, 4.0 * 65000);
  // A copy on the device reads and writes.
  const Base copy = base_of(
      ir::Copy{.kind = ir::CopyKind::kDeviceToDevice, .bytes = Bytes{1000}});
  EXPECT_EQ(copy.bytes, 2000);
}

TEST_F(KernelModelsTest, CeilingsOfAProfileAreTheUsers) {
  const double before = Load()->Price(product_shape)->p50_us;
  Write("ceilings.toml", "gemm_fp32_share = 0.4\n");
  const auto models = Load();
  ASSERT_TRUE(models.has_value()) << models.error().message;
  EXPECT_EQ(models->machine().device.gemm_fp32_share, 0.4);
  EXPECT_GT(models->Price(product_shape)->p50_us, 1.2 * before);
  EXPECT_EQ(models->Price(product_shape)->origin, Origin::kFormula);
}

TEST_F(KernelModelsTest, NamesTheFileAndLineOfWhatIsWrong) {
  Write("ceilings.toml", "gemm_fp32_share = 40\n");
  EXPECT_THAT(Load().error().message,
              HasSubstr("ceilings.toml:1: 'gemm_fp32_share' must be"));
  Write("ceilings.toml", "speed = 1\n");
  EXPECT_THAT(Load().error().message, HasSubstr("'speed' is not a ceiling"));
  Write("ceilings.toml", "");
  Write("launches.toml", "[linear]\nfloor_us = -1\nlead_us = 2\n");
  EXPECT_THAT(Load().error().message, HasSubstr("'floor_us' must be"));
}

TEST_F(KernelModelsTest, AnOffsetMovesTheFormula) {
  const double before =
      Load()
          ->Price(ir::Sort{.elements = 100000, .dtype = ir::DType::kFp32})
          ->p50_us;
  Write("sort.fp32.model",
        "family = \"sort\"\nvariant = \"fp32\"\ngpu = \"titan-xp\"\n"
        "chosen = \"scaled\"\nvalidation_gmae_pct = { scaled = 3.0 }\n"
        "offset = 1.0\nfade_us = 0.0\nspread_edges_us = []\n"
        "spread_log2_p10 = [-0.1]\nspread_log2_p90 = [0.1]\n"
        "feature_low = []\nfeature_high = []\n---\n");
  const auto models = Load();
  ASSERT_TRUE(models.has_value()) << models.error().message;
  const auto estimate =
      models->Price(ir::Sort{.elements = 100000, .dtype = ir::DType::kFp32});
  EXPECT_NEAR(estimate->p50_us, 2 * before, 1e-6 * before);
  EXPECT_NEAR(estimate->p90_us / estimate->p50_us, std::exp2(0.1), 1e-9);
  EXPECT_EQ(estimate->model, "sort-scaled");
  EXPECT_EQ(estimate->origin, Origin::kFitted);
}

TEST_F(KernelModelsTest, AModelOfOtherFeaturesIsRefused) {
  Write("softmax.fp32.model",
        "family = \"softmax\"\nvariant = \"fp32\"\ngpu = \"titan-xp\"\n"
        "chosen = \"trees_1\"\nvalidation_gmae_pct = { trees_1 = 3.0 }\n"
        "offset = 0.0\nfade_us = 0.0\nspread_edges_us = []\n"
        "spread_log2_p10 = [-0.1]\nspread_log2_p90 = [0.1]\n"
        "feature_low = [0]\nfeature_high = [1]\n---\n0:0.5 =1 =2\n");
  const auto models = Load();
  ASSERT_FALSE(models.has_value());
  EXPECT_THAT(models.error().message, HasSubstr("1 features"));
}

TEST(KernelModels, BorrowsFromTheSameChip) {
  const auto models =
      KernelModels::Load(On("v100-sxm-16gb@1297MHz").device, ProfileStore());
  ASSERT_TRUE(models.has_value()) << models.error().message;
  const auto estimate = models->Price(product_shape);
  EXPECT_THAT(estimate->model, HasSubstr("of v100-pcie-32gb"));
  // 439 us in the traces of Lin et al.
  EXPECT_NEAR(estimate->p50_us / 439, 1, 0.15);
}

// On H100 the models of products are fitted to replays of graphs, which overlap
// kernels; on V100 to single calls. A product with a vector is no such kernel.
TEST(KernelModels, ARecorderShowsMoreThanReplaysDo) {
  const auto more_on = [](std::string_view gpu, int64_t m) {
    const auto models = KernelModels::Load(On(gpu).device, ProfileStore());
    const Estimate estimate = *models->Price(ir::Gemm{
        .batch = 1, .m = m, .n = 512, .k = 512, .dtype = ir::DType::kBf16});
    EXPECT_EQ(AsRecorded(estimate).p50_us,
              estimate.p50_us + estimate.recorded_more_us);
    return estimate.recorded_more_us;
  };
  EXPECT_EQ(more_on("h100-sxm-80gb", 128), 2.2);
  EXPECT_EQ(more_on("h100-sxm-80gb", 1), 0);
  EXPECT_EQ(more_on("v100-pcie-32gb", 128), 0);
}

TEST(KernelModels, HasNoPriceForWhatItDoesNotKnow) {
  const auto models = KernelModels::Load(On("t4").device, ProfileStore());
  ASSERT_TRUE(models.has_value()) << models.error().message;
  EXPECT_FALSE(models->Price(ir::Opaque{}).has_value());
  EXPECT_FALSE(models->Price(ir::Gemm{.batch = 1, .m = 5}).has_value());
}

TEST(LaunchCost, DelaysKernelsMoreOnAHostThatSlowsDown) {
  const LaunchCost cost{.floor_us = 40, .lead_us = 20};
  EXPECT_EQ(cost.LeadAt(0.5), 20);
  const LaunchCost drifting{
      .floor_us = 40, .lead_us = 40, .drift_us = 100, .drift_power = 2};
  EXPECT_EQ(drifting.LeadAt(0.5), 65);
}

}  // namespace
}  // namespace stepcast::cost
