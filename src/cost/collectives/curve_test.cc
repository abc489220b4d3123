#include "cost/collectives/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::cost {
namespace {

using ::testing::HasSubstr;

CollectiveCurve Curve() {
  return {.kind = ir::CollectiveKind::kAllReduce,
          .group = {.ranks = 8},
          .rows = 3,
          .from_log2 = 10,
          .us = {10, 10, 20},
          .log2_p10 = -0.1,
          .log2_p90 = 0.2};
}

constexpr Ramp kRamp{.latency_us = 10, .bus_gbs = 1, .blend = 1};

TEST(CollectiveCurve, GoesThroughItsTimes) {
  const CollectiveCurve curve = Curve();
  EXPECT_DOUBLE_EQ(curve.Us(1024, kRamp), 10);
  EXPECT_DOUBLE_EQ(curve.Us(2048, kRamp), 10);
  EXPECT_DOUBLE_EQ(curve.Us(4096, kRamp), 20);
  // Half-way in the logarithms.
  EXPECT_NEAR(curve.Us(2048 * 1.41421356, kRamp), 14.1421356, 1e-6);
}

// After 4096 B, 14.096 us by the ramp, its rise goes on: at 14096 B it says
// 24.096 us.
TEST(CollectiveCurve, FollowsTheRampBeyondItsEnds) {
  EXPECT_NEAR(Curve().Us(14096, kRamp), 20 * 24.096 / 14.096, 1e-9);
  EXPECT_NEAR(Curve().Us(0, kRamp), 10 * 10 / 11.024, 1e-9);
  EXPECT_TRUE(Curve().Covers(5000));
  EXPECT_FALSE(Curve().Covers(14096));
}

TEST(CollectiveCurve, MayJustKnowARate) {
  CollectiveCurve curve = Curve();
  curve.us.clear();
  curve.bus_gbs = 2;
  EXPECT_DOUBLE_EQ(curve.Us(4000, kRamp), 12);
  EXPECT_FALSE(curve.Covers(4000));
}

TEST(ParseCollectiveProfile, ReadsWhatItWrites) {
  const CollectiveProfile profile{.system = "gpu/box", .curves = {Curve()}};
  const std::string text = CollectiveProfileText(profile, "a test");
  const auto again = ParseCollectiveProfile(text, "box.toml");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(CollectiveProfileText(*again, "a test"), text);
  EXPECT_EQ(again->curves.front().us, Curve().us);
}

TEST(ParseCollectiveProfile, RefusesTimesThatFall) {
  const auto profile = ParseCollectiveProfile(
      "system = \"a\"\n[[curve]]\nkind = \"all_reduce\"\nranks = 2\nnodes = 1\n"
      "time_us = [3, 2]\n",
      "box.toml");
  ASSERT_FALSE(profile.has_value());
  EXPECT_THAT(profile.error().message, HasSubstr("box.toml:6"));
  EXPECT_THAT(profile.error().message, HasSubstr("never fall"));
}

}  // namespace
}  // namespace stepcast::cost
