#include <gtest/gtest.h>

#include "cost/kernels/families.h"
#include "cost/kernels/memory_laws_testing.h"
#include "hw/device.h"

namespace stepcast::cost {
namespace {

using ir::DType;
using ir::Reduction;

TEST(ReductionBase, AnswersForTheAuthorsBiasGradients) {
  // 2048 rows of 1024: 19-27 us, 23 on average; of 64: 10 us.
  const Reduction wide{2048 * 1024, 1024, DType::kFp32, true};
  const Reduction narrow{2048 * 64, 64, DType::kFp32, true};
  EXPECT_NEAR(ReductionBase(wide, AuthorsV100()).time_us, 23, 2);
  EXPECT_NEAR(ReductionBase(narrow, AuthorsV100()).time_us, 10, 1.5);
}

TEST(ReductionBase, AnswersForALoss) {
  // 2048 elements into one: 6.5 us.
  const Reduction loss{2048, 1, DType::kFp32};
  EXPECT_NEAR(ReductionBase(loss, AuthorsV100()).time_us, 6.5, 0.7);
}

TEST(ReductionBase, LargeSumsRunAtTheRateOfMemory) {
  // 32256 rows of 1536 FP32, 198 MB: 78 us on H100.
  Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  h100.device.copy_share = 0.95;
  const Reduction mean{49'545'216, 32256, DType::kFp32};
  EXPECT_NEAR(ReductionBase(mean, h100).time_us, 78, 10);
}

TEST(ReductionBase, ObeysTheLawsOfSize) {
  for (const bool strided : {false, true}) {
    ExpectLawsOfSize([strided](int64_t size) {
      return Reduction{size * 32, 32, DType::kFp16, strided};
    });
  }
}

using ir::Pass;
using ir::Pooling;

TEST(PoolingBase, LargePoolingIsBoundByMemory) {
  // 2x2 windows over 400 M elements: 1.6 GB in, 0.4 GB and 0.8 GB of places
  // out.
  const Machine v100{.device = hw::FindDevice("v100-pcie-32gb").value()};
  const Pooling op{400'000'000, 100'000'000, 4, DType::kFp32};
  const double memory = 2.8e9 / v100.copy_rate();
  EXPECT_NEAR(PoolingBase(op, v100).time_us, memory, 0.2 * memory);
}

TEST(PoolingBase, LargerWindowsTakeLonger) {
  const Machine v100{.device = hw::FindDevice("v100-pcie-32gb").value()};
  const Pooling small{1'000'000, 1'000'000, 9, DType::kFp32};
  const Pooling large{1'000'000, 1'000'000, 81, DType::kFp32};
  EXPECT_GT(PoolingBase(large, v100).time_us,
            2 * PoolingBase(small, v100).time_us);
}

TEST(PoolingBase, GrowsAndStaysAboveTheRoofline) {
  const auto names = hw::GpuNames();
  for (const std::string& gpu : names) {
    const Machine machine{.device = hw::FindDevice(gpu).value()};
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      double last = 0;
      for (int64_t inputs = 16; inputs < (1LL << 32); inputs *= 4) {
        const Pooling op{inputs, inputs / 4, 4, DType::kFp32, pass};
        const Base base = PoolingBase(op, machine);
        EXPECT_GT(base.time_us, last) << gpu;
        EXPECT_GE(base.time_us, base.roofline_us) << gpu;
        last = base.time_us;
      }
    }
  }
}

}  // namespace
}  // namespace stepcast::cost
