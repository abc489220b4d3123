// Each op's device time, predicted from a model file, keeps to its limit on the
// authors' traces. Skipped where the data is absent.
#include "tests/accuracy/op_times.h"

#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

namespace stepcast::accuracy {
namespace {

constexpr double kLimitPct = 10;
constexpr double kLeastShare = 0.02;

TEST(OpTimesTest, OpsAboveTwoPercentOfTheStepAreWithinTenPercent) {
  const std::filesystem::path data = STEPCAST_SHARED_DATA;
  if (!std::filesystem::exists(data / "authors")) {
    GTEST_SKIP() << "no traces in " << data;
  }
  const auto ops = CompareOps(data, kLeastShare);
  ASSERT_TRUE(ops) << ops.error().message;
  std::fputs(OpTable(*ops).c_str(), stdout);
  // Two traces of each model; five to ten ops each.
  EXPECT_GE(ops->size(), 24u);
  for (const OpTime& op : *ops) {
    EXPECT_LE(std::abs(op.error_pct()), kLimitPct) << op.trace << " " << op.op;
  }
}

}  // namespace
}  // namespace stepcast::accuracy
