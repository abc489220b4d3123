#include "learn/fit/leave_out.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "learn/fit/measured_rows_testing.h"

namespace stepcast::learn {
namespace {

KernelRows Rows() {
  cost::Constants truth;
  truth.Set(cost::Constant::kSoftmaxRowCycles, 600);
  return MadeSoftmaxRows({"v100-pcie-32gb", "t4", "a100-pcie-40gb"}, truth);
}

LeaveOutLine LineOf(const KernelRows& rows, const std::string& gpu) {
  const auto table = LeaveOneOut(rows, 2);
  EXPECT_TRUE(table.has_value());
  const auto line = std::ranges::find(table->lines, gpu, &LeaveOutLine::gpu);
  EXPECT_NE(line, table->lines.end());
  return *line;
}

TEST(LeaveOneOut, PredictsAGpuThatFollowsTheOthers) {
  const LeaveOutLine line = LineOf(Rows(), "t4");
  EXPECT_EQ(line.op, "softmax");
  EXPECT_LT(line.nothing.mape_pct, 2);
  EXPECT_GT(line.roofline.mape_pct, 10);
}

TEST(LeaveOneOut, DoesNotSeeTheRowsOfTheGpuThatIsLeftOut) {
  const KernelRows rows = Rows();
  KernelRows changed = rows;
  for (KernelRow& row : changed.rows) {
    if (changed.gpus[row.gpu] == "t4" && PartOf(row.shape) == Part::kFit) {
      row.time_us *= 3;
    }
  }
  const LeaveOutLine before = LineOf(rows, "t4");
  const LeaveOutLine after = LineOf(changed, "t4");
  EXPECT_EQ(before.nothing.mape_pct, after.nothing.mape_pct);
  EXPECT_EQ(before.ceilings.mape_pct, after.ceilings.mape_pct);
  EXPECT_EQ(before.trees.mape_pct, after.trees.mape_pct);
  // What it is given of its own rows does matter, and others see them.
  EXPECT_GT(after.few_rows.mape_pct, before.few_rows.mape_pct + 5);
  EXPECT_NE(LineOf(rows, "v100-pcie-32gb").nothing.mape_pct,
            LineOf(changed, "v100-pcie-32gb").nothing.mape_pct);
}

TEST(LeaveOneOut, IsTheSameForAnyNumberOfThreads) {
  const KernelRows rows = Rows();
  const auto one = LeaveOneOut(rows, 1);
  const auto three = LeaveOneOut(rows, 3);
  ASSERT_TRUE(one.has_value() && three.has_value());
  ASSERT_EQ(one->lines.size(), three->lines.size());
  for (size_t i = 0; i < one->lines.size(); ++i) {
    EXPECT_EQ(one->lines[i].gpu, three->lines[i].gpu);
    EXPECT_EQ(one->lines[i].trees.mape_pct, three->lines[i].trees.mape_pct);
    EXPECT_EQ(one->lines[i].few_rows.mape_pct,
              three->lines[i].few_rows.mape_pct);
  }
}

}  // namespace
}  // namespace stepcast::learn
