#include "collect/cuda/budget.h"

#include <sstream>

#include <gtest/gtest.h>

namespace stepcast::collect {
namespace {

TEST(BudgetTest, EarlierRunsHaveEatenFromIt) {
  double now = 100;
  const Budget budget(60, 50, [&] { return now; });
  EXPECT_FALSE(budget.IsOver());
  now += 4;
  EXPECT_DOUBLE_EQ(budget.Spent(), 54);
  EXPECT_DOUBLE_EQ(budget.Left(), 6);
  now += 10;
  EXPECT_TRUE(budget.IsOver());
  EXPECT_DOUBLE_EQ(budget.Left(), 0);
}

TEST(EtaTest, IsTheSweepsEndOrTheBudgetsWhicheverIsFirst) {
  EXPECT_DOUBLE_EQ(EtaSeconds(0, 100, 0, 60), 60);
  // 10 points took 5 s: 90 more take 45.
  EXPECT_DOUBLE_EQ(EtaSeconds(10, 100, 5, 60), 45);
  EXPECT_DOUBLE_EQ(EtaSeconds(10, 100, 5, 20), 20);
  EXPECT_DOUBLE_EQ(EtaSeconds(100, 100, 5, 20), 0);
}

TEST(ClockTextTest, HasMinutesAndTwoDigitsOfSeconds) {
  EXPECT_EQ(ClockText(65.2), "1:05");
  EXPECT_EQ(ClockText(59.6), "1:00");
  EXPECT_EQ(ClockText(3600), "60:00");
}

TEST(ProgressTest, AFileGetsALineOccasionally) {
  double now = 0;
  const Budget budget(600, 0, [&] { return now; });
  std::ostringstream out;
  Progress progress(40, out, false);
  progress.Show(1, budget, "gemm");
  now = 5;
  progress.Show(5, budget, "gemm");
  now = 20;
  progress.Show(10, budget, "memcpy");
  progress.End();
  EXPECT_EQ(out.str(),
            "bench: 1 of 40 points, 0:00 spent, 0:00 to go, gemm\n"
            "bench: 10 of 40 points, 0:20 spent, 1:00 to go, memcpy\n");
}

}  // namespace
}  // namespace stepcast::collect
