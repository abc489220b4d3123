#include "engine/explain/kernel_rates.h"

#include <gtest/gtest.h>

#include "cost/machine_testing.h"
#include "cost/profile.h"
#include "engine/run/replay_testing.h"

namespace stepcast::engine {
namespace {

// The formulas of a GPU without measurements, so that no fit moves a number.
cost::KernelModels TitanModels() {
  auto models = cost::KernelModels::Load(cost::On("titan-xp").device,
                                         cost::ProfileStore());
  CHECK(models.has_value()) << models.error().message;
  return *std::move(models);
}

// Two equal products of 2 x 512 x 512 x 512 = 268,435,456 FLOP, which read and
// write 3 MiB; the second takes ten times as long; during half of it
// a kernel of another stream runs, too.
constexpr std::string_view kStep = R"(stepcast-graph 1
rank 0 "GPU" @0+4000
  thread main
    op "aten::mm" @10+20
      call launch "cudaLaunchKernel" @12+5
        s7: gemm batch=1 m=512 n=512 k=512 dtype=fp32 "sgemm" @30+100
    op "aten::mm" @50+20
      call launch "cudaLaunchKernel" @52+5
        s7: gemm batch=1 m=512 n=512 k=512 dtype=fp32 "sgemm" @1000+1000
    op "aten::add" @80+20
      call launch "cudaLaunchKernel" @82+5
        s8: elementwise "add" @1500+500
    op "aten::copy_" @110+20
      call launch "cudaMemcpyAsync" @112+5
        s7: copy kind=host_to_device bytes=1000000 pinned=true "Memcpy HtoD" @2500+100
)";

TEST(KernelRatesTest, RatesAreOfTheSizesAndTheRecordedTime) {
  const Replay replay = ReplayOf(kStep);
  const cost::KernelModels models = TitanModels();

  const KernelRates rates = RateKernels(replay.result, {.models = &models});

  ASSERT_EQ(rates.families.size(), 2U);
  const RateSum& gemm = rates.families[0].sum;
  EXPECT_EQ(rates.families[0].family, "gemm");
  EXPECT_EQ(gemm.count, 2);
  EXPECT_DOUBLE_EQ(gemm.time_us, 1100);
  EXPECT_DOUBLE_EQ(gemm.flops, 2 * 268'435'456.0);
  EXPECT_DOUBLE_EQ(gemm.bytes, 2 * 3 * 1'048'576.0);
  EXPECT_NEAR(gemm.tflops(), 536.87 / 1100, 1e-4);
  // The add's sizes are not known: it has a time and no rate.
  EXPECT_EQ(rates.families[1].sum.count, 1);
  EXPECT_EQ(rates.families[1].sum.sized, 0);
  ASSERT_EQ(rates.kernels.size(), 2U);  // Equal products are one row.
  // 536.87 MFLOP at 12.15 TFLOP/s of 4 ms.
  ASSERT_EQ(rates.ranks.size(), 1U);
  EXPECT_NEAR(rates.ranks[0].mfu(),
              536.87 / models.machine().device.fp32_tflops / 4000, 1e-5);
  ASSERT_EQ(rates.copies.size(), 1U);
  EXPECT_TRUE(rates.copies[0].pinned);
  EXPECT_DOUBLE_EQ(rates.copies[0].gbs(), 10);  // 1 MB in 100 us.
}

TEST(KernelRatesTest, AKernelFarAboveItsModelIsSlow) {
  const Replay replay = ReplayOf(kStep);
  const cost::KernelModels models = TitanModels();

  const KernelRates rates = RateKernels(replay.result, {.models = &models});

  ASSERT_EQ(rates.slow.size(), 1U);
  const SlowKernels& slow = rates.slow[0];
  EXPECT_EQ(slow.count, 1);
  EXPECT_EQ(slow.all, 2);
  EXPECT_DOUBLE_EQ(slow.time_us, 1000);
  EXPECT_DOUBLE_EQ(slow.shared_us, 500);
  EXPECT_GT(slow.time_us, slow.usual_p90_us);
  // On a GPU that is not its own nothing is usual.
  EXPECT_TRUE(RateKernels(replay.result, {.models = &models, .same_gpu = false})
                  .slow.empty());
}

TEST(KernelRatesTest, WhatIsFasterThanThePeakIsMarked) {
  // 268 MFLOP in 10 us are 26.8 TFLOP/s.
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 "GPU" @0+100
  thread main
    op "aten::mm" @10+20
      call launch "cudaLaunchKernel" @12+5
        s7: gemm batch=1 m=512 n=512 k=512 dtype=fp32 "sgemm" @30+10
)");
  const cost::KernelModels models = TitanModels();

  const KernelRates rates = RateKernels(replay.result, {.models = &models});

  ASSERT_EQ(rates.kernels.size(), 1U);
  EXPECT_EQ(rates.kernels[0].mark, RateMark::kAbovePeak);
  EXPECT_EQ(rates.families[0].mark, RateMark::kAbovePeak);
}

TEST(KernelRatesTest, TheEndOfTheStepBeforeIsNotOfThisOne) {
  const Replay replay = ReplayOf(R"(stepcast-graph 1
rank 0 "GPU" @0+100
  thread main
    op "aten::mm" @10+20
      call launch "cudaLaunchKernel" @12+5
        s7: gemm batch=1 m=64 n=64 k=64 dtype=fp32 "sgemm" @30+10
  s7: gemm batch=1 m=64 n=64 k=64 dtype=fp32 "sgemm" @5+10
  s8: fill bytes=4 "memset" @5+10
)");
  const cost::KernelModels models = TitanModels();

  const KernelRates rates = RateKernels(replay.result, {.models = &models});

  // Of stream 8 no launch is known at all: its fill counts.
  ASSERT_EQ(rates.families.size(), 2U);
  EXPECT_EQ(rates.families[0].sum.count, 1);
  EXPECT_EQ(rates.families[1].sum.count, 1);
}

}  // namespace
}  // namespace stepcast::engine
