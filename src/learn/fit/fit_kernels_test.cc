#include "learn/fit/fit_kernels.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "cost/kernels/family.h"
#include "hw/device.h"

namespace stepcast::learn {
namespace {

using ::testing::HasSubstr;

// Softmax kernels on a T4 as our own formula times `scale` says, seen through
// an eager call.
KernelRows MadeRows(double scale, double floor_us, double lead_us,
                    int count = 1500) {
  const cost::Machine t4{.device = hw::FindDevice("t4").value()};
  const cost::Family* family = cost::FindFamily(ir::KernelShape(ir::Softmax{}));
  Rng rng(5);
  std::string text = "gpu,dtype,direction,rows,cols,time_us,timing\n";
  for (int i = 0; i < count; ++i) {
    const auto rows = static_cast<int64_t>(1 + rng.Below(16000));
    const auto columns = static_cast<int64_t>(1 + rng.Below(4000));
    const double kernel =
        scale * family
                    ->base(ir::Softmax{.rows = rows,
                                       .columns = columns,
                                       .dtype = ir::DType::kFp32},
                           t4)
                    .time_us;
    text += fmt::format("t4,fp32,fwd,{},{},{:.4f},event_op\n", rows, columns,
                        std::max(floor_us, lead_us + kernel));
  }
  KernelRows rows;
  EXPECT_TRUE(AddKernelRows(text, "softmax/t4.csv", rows).has_value());
  return rows;
}

TEST(FitProfile, KeepsTheFormulaWhereItIsRight) {
  const auto fitted =
      FitProfile(MadeRows(1, 100, 50), 0, cost::Constants(), "test");
  ASSERT_TRUE(fitted.has_value()) << fitted.error().message;
  ASSERT_EQ(fitted->summaries.size(), 1u);
  EXPECT_EQ(fitted->summaries[0].chosen, "formula");
  EXPECT_LT(fitted->summaries[0].model.mape_pct, 0.1);
  EXPECT_NEAR(fitted->profile.launches.at("softmax").floor_us, 100, 1e-3);
}

TEST(FitProfile, LearnsWhatTheFormulaMisses) {
  const auto fitted =
      FitProfile(MadeRows(1.5, 100, 50), 0, cost::Constants(), "test");
  ASSERT_TRUE(fitted.has_value()) << fitted.error().message;
  ASSERT_EQ(fitted->summaries.size(), 1u);
  EXPECT_NE(fitted->summaries[0].chosen, "formula");
  EXPECT_GT(fitted->summaries[0].formula.mape_pct, 20);
  EXPECT_LT(fitted->summaries[0].model.mape_pct, 1);
}

// Wide rows take up to twice as long: trees on many rows see it, few rows on
// top of them only have to find the common factor.
TEST(FitProfile, FewRowsCorrectAnotherGpusModel) {
  const auto with_slope = [](KernelRows rows) {
    for (KernelRow& row : rows.rows) {
      const auto& softmax = std::get<ir::Softmax>(row.shape);
      row.time_us *= 1 + static_cast<double>(softmax.columns) / 4000;
    }
    return rows;
  };
  const auto base =
      FitProfile(with_slope(MadeRows(1, 0.1, 0)), 0, cost::Constants(), "test");
  ASSERT_TRUE(base.has_value()) << base.error().message;
  const KernelRows few = with_slope(MadeRows(1.2, 0.1, 0, 120));
  const auto alone = FitProfile(few, 0, cost::Constants(), "test");
  const auto fitted =
      FitProfile(few, 0, cost::Constants(), "test", nullptr, &base->profile);
  ASSERT_TRUE(alone.has_value() && fitted.has_value());
  ASSERT_EQ(fitted->summaries.size(), 1u);
  EXPECT_THAT(fitted->summaries[0].chosen, HasSubstr("base"));
  EXPECT_LT(fitted->summaries[0].model.gmae_pct,
            alone->summaries[0].model.gmae_pct / 2);
}

TEST(FitProfile, TakesWhatIsNotMeasuredFromTheBase) {
  const auto base =
      FitProfile(MadeRows(1.5, 100, 50), 0, cost::Constants(), "test");
  ASSERT_TRUE(base.has_value()) << base.error().message;
  cost::Profile other = base->profile;
  other.models[0].family = "gemm";
  other.ceilings["copy_share"] = 0.5;
  const auto fitted = FitProfile(MadeRows(1, 100, 50), 0, cost::Constants(),
                                 "test", nullptr, &other);
  ASSERT_TRUE(fitted.has_value()) << fitted.error().message;
  EXPECT_EQ(fitted->profile.models.size(), 2u);
  EXPECT_EQ(fitted->profile.models[1].family, "gemm");
  EXPECT_EQ(fitted->profile.ceilings.at("copy_share"), 0.5);
}

TEST(FitProfile, FilesShowWhereTheyAreFrom) {
  const auto fitted =
      FitProfile(MadeRows(1.5, 100, 50), 0, cost::Constants(), "a test");
  ASSERT_TRUE(fitted.has_value()) << fitted.error().message;
  const auto files = FilesOf(fitted->profile, "a test");
  const auto model =
      std::ranges::find(files, "t4/softmax.fp32.model", &ProfileFile::path);
  ASSERT_NE(model, files.end());
  EXPECT_THAT(model->text, HasSubstr("# Fitted by: a test\n"));
  EXPECT_THAT(model->text, HasSubstr("softmax/t4.csv"));
  EXPECT_TRUE(cost::ParseModel(model->text, model->path).has_value());
}

TEST(FitProfile, WantsAGpuItKnows) {
  KernelRows rows;
  ASSERT_TRUE(AddKernelRows("gpu,dtype,direction,rows,cols,time_us,timing\n"
                            "abacus,fp32,fwd,1,2,3,profiler\n",
                            "softmax/x.csv", rows)
                  .has_value());
  const auto fitted = FitProfile(rows, 0, cost::Constants(), "test");
  ASSERT_FALSE(fitted.has_value());
  EXPECT_THAT(fitted.error().message, HasSubstr("unknown GPU 'abacus'"));
}

}  // namespace
}  // namespace stepcast::learn
