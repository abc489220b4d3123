#include "learn/judge/kernel_accuracy.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/kernel_models.h"
#include "hw/device.h"

namespace stepcast::learn {
namespace {

using ::testing::HasSubstr;

// Large products on a T4 at `scale` times their estimate.
KernelRows MadeRows(double scale) {
  const auto models = cost::KernelModels::Load(hw::FindDevice("t4").value(),
                                               cost::ProfileStore())
                          .value();
  std::string text = "gpu,dtype,batch,m,n,k,layout,time_us,timing\n";
  for (int64_t m = 1024; m < 1034; ++m) {
    const ir::Gemm gemm{.batch = 1,
                        .m = m,
                        .n = 2048,
                        .k = 2048,
                        .transpose_b = true,
                        .dtype = ir::DType::kFp32};
    text += fmt::format("t4,fp32,1,{},2048,2048,tn,{},profiler\n", m,
                        scale * models.Price(gemm)->p50_us);
  }
  KernelRows rows;
  EXPECT_TRUE(AddKernelRows(text, "gemm/t4.csv", rows).has_value());
  return rows;
}

TEST(EvaluateKernels, MeasuresItsOwnError) {
  const auto accuracy =
      EvaluateKernels(MadeRows(1 / 1.1), cost::ProfileStore(), {});
  ASSERT_TRUE(accuracy.has_value()) << accuracy.error().message;
  ASSERT_EQ(accuracy->groups.size(), 1u);
  EXPECT_EQ(accuracy->groups[0].all.ours.n, 10u);
  EXPECT_NEAR(accuracy->groups[0].all.ours.mape_pct, 10, 0.01);
  EXPECT_NEAR(accuracy->groups[0].all.ours.bias_pct, 10, 0.01);
}

TEST(EvaluateKernels, RefusesMillisecondsAndNanoseconds) {
  const auto fast = EvaluateKernels(MadeRows(1e-3), cost::ProfileStore(), {});
  ASSERT_FALSE(fast.has_value());
  EXPECT_THAT(fast.error().message,
              HasSubstr("gemm/t4.csv: 10 of 10 rows are faster"));
  const auto slow = EvaluateKernels(MadeRows(1e3), cost::ProfileStore(), {});
  ASSERT_FALSE(slow.has_value());
  EXPECT_THAT(slow.error().message, HasSubstr("times slower than predicted"));
}

TEST(EvaluateKernels, FlagsASingleImpossibleRowByItsLine) {
  KernelRows rows = MadeRows(1);
  rows.rows[3].time_us /= 1000;
  const auto accuracy = EvaluateKernels(rows, cost::ProfileStore(), {});
  ASSERT_TRUE(accuracy.has_value()) << accuracy.error().message;
  ASSERT_EQ(accuracy->flagged.size(), 1u);
  EXPECT_EQ(accuracy->flagged[0].line, 5u);
  EXPECT_EQ(accuracy->groups[0].all.ours.n, 9u);
}

}  // namespace
}  // namespace stepcast::learn
