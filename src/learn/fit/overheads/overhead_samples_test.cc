#include "learn/fit/overheads/overhead_samples.h"

#include <array>

#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

TEST(HostStepsTest, TheGapIsWhatIsLeftOfAStepOverItsOps) {
  // (150 - 100) / 10 = 5 us before each of ten ops.
  const std::array<HostStep, 1> steps = {HostStep{
      .name = "a", .measured_us = 150, .activities_us = 100, .ops = 10}};
  EXPECT_DOUBLE_EQ(FitGap(steps), 5);
}

TEST(HostStepsTest, StepsThatAreAllOperatorsHardlyCount) {
  const HostStep small{
      .name = "a", .measured_us = 150, .activities_us = 100, .ops = 10};
  // Its operators are 5 % off: 500 us a gap, were it alone.
  const HostStep large{
      .name = "b", .measured_us = 1e5, .activities_us = 95e3, .ops = 10};
  EXPECT_NEAR(FitGap(std::array{small, large}), 5, 0.05);
}

TEST(HostStepsTest, AGapIsNeverNegative) {
  const std::array<HostStep, 1> steps = {HostStep{
      .name = "a", .measured_us = 90, .activities_us = 100, .ops = 10}};
  EXPECT_EQ(FitGap(steps), 0);
  EXPECT_EQ(FitGap({}), 0);
}

TEST(HostStepsTest, TheTableHasTheGapAndNothingElse) {
  const std::array<HostStep, 1> steps = {HostStep{
      .name = "a", .measured_us = 150, .activities_us = 100, .ops = 10}};
  const cost::OverheadTable table(GapTable(steps, 5, {}));
  EXPECT_EQ(table.Lookup(cost::HostKind::kBetweenOps, "aten::mm").row.mean_us,
            5);
  for (const auto kind :
       {cost::HostKind::kBeforeLaunch, cost::HostKind::kAfterLaunch,
        cost::HostKind::kCall, cost::HostKind::kBetweenLaunches,
        cost::HostKind::kNoLaunch, cost::HostKind::kHandoff}) {
    const cost::Overhead found = table.Lookup(kind, "aten::mm");
    EXPECT_EQ(found.row.mean_us, 0);
    EXPECT_NE(found.source, cost::OverheadSource::kMissing);
  }
}

}  // namespace
}  // namespace stepcast::learn
