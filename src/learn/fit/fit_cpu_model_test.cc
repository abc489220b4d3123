#include <cmath>

#include <gtest/gtest.h>

#include "cost/processor_testing.h"
#include "learn/fit/fit_kernels.h"
#include "learn/fit/fit_model.h"

namespace stepcast::learn {
namespace {

// Products of all sizes and both layouts. Each takes `factor(op)` times what
// the formula says, and up to 5 % more.
class MadeProducts {
 public:
  template <typename Factor>
  explicit MadeProducts(int count, Factor factor) {
    for (int i = 0; i < count; ++i) {
      ir::Gemm product{.batch = 1,
                       .m = 16 + 8 * (i % 7),
                       .n = 32 + 16 * (i % 11),
                       .k = 64 + 32 * (i % 13),
                       .transpose_b = i % 2 == 1,
                       .dtype = ir::DType::kFp32};
      KernelRow row;
      row.shape = product;
      row.time_us = factor(product) * (1 + 0.05 * (i * 7 % 10) / 10) *
                    group_.family->base(product, machine_).time_us;
      measured_.rows.push_back(row);
    }
    measured_.tables = {"made"};
    measured_.kinds = {"gemm"};
    measured_.ops = {"linear"};
    for (const KernelRow& row : measured_.rows) {
      group_.rows.push_back(&row);
    }
    rows_ = MakeTrainingRows({.all = measured_,
                              .group = group_,
                              .machine = machine_,
                              .profile = profile_});
  }

  const RowGroup& group() const { return group_; }
  const TrainingRows& rows() const { return rows_; }

 private:
  cost::Machine machine_ = cost::ProcessorForTests();
  cost::Profile profile_;
  KernelRows measured_;
  RowGroup group_{.family = cost::FindFamily(ir::Gemm{}),
                  .variant = cost::Variant::kFull,
                  .rows = {}};
  TrainingRows rows_;
};

TEST(FitCpuModelTest, LayoutsMayDifferByAFactor) {
  const MadeProducts made(
      400, [](const ir::Gemm& op) { return op.transpose_b ? 9.0 : 4.0; });
  const auto model = FitCpuModel(made.group(), made.rows());
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_TRUE(*model);
  EXPECT_NE((*model)->chosen, "scaled");
  const auto kernel_us = Predict(**model, made.rows());
  EXPECT_LT(ErrorsOf(made.rows(), kernel_us, Part::kTest).mape_pct, 5);
}

TEST(FitCpuModelTest, FewRowsShowAFactor) {
  const MadeProducts made(30, [](const ir::Gemm& /*op*/) { return 16.0; });
  const auto model = FitCpuModel(made.group(), made.rows());
  ASSERT_TRUE(model && *model);
  EXPECT_EQ((*model)->chosen, "scaled");
  EXPECT_NEAR((*model)->offset, 4, 0.08);
}

TEST(FitCpuModelTest, AFewRowsSayNothing) {
  const MadeProducts made(5, [](const ir::Gemm& /*op*/) { return 1.0; });
  const auto model = FitCpuModel(made.group(), made.rows());
  ASSERT_TRUE(model);
  EXPECT_FALSE(*model);
}

}  // namespace
}  // namespace stepcast::learn
