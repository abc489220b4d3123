#include "base/stats.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast {
namespace {

TEST(Quantile, LiesBetweenNeighbours) {
  EXPECT_EQ(Quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(Quantile({1, 2}, 0.25), 1.25);
  EXPECT_EQ(Quantile({1, 2, 3}, 1), 3);
  EXPECT_EQ(Quantile({}, 0.5), 0);
}

TEST(Errors, SummarizesSignAndSize) {
  Errors errors;
  errors.Add(110, 100);
  errors.Add(60, 100);
  const ErrorSummary summary = errors.Summary();
  EXPECT_EQ(summary.n, 2u);
  EXPECT_NEAR(summary.gmae_pct, 20, 1e-9);
  EXPECT_NEAR(summary.mape_pct, 25, 1e-9);
  EXPECT_NEAR(summary.bias_pct, -15, 1e-9);
  EXPECT_NEAR(summary.p90_pct, 37, 1e-9);
}

TEST(Errors, AnExactHitHasAFiniteMean) {
  Errors errors;
  errors.Add(100, 100);
  EXPECT_NEAR(errors.Summary().gmae_pct, 1e-3, 1e-9);
}

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

Interval Span(int64_t start, int64_t end) {
  return {.start = Duration(start), .end = Duration(end)};
}

// [0    4)
//    [2     7)
//                [9 11)
TEST(IntervalsTest, OverlapsCountOnceAndGapsNot) {
  const auto covered = Union({Span(9, 11), Span(0, 4), Span(2, 7)});
  EXPECT_THAT(covered, ElementsAre(FieldsAre(Duration(0), Duration(7)),
                                   FieldsAre(Duration(9), Duration(11))));
  EXPECT_EQ(TotalLength(covered), Duration(9));  // 7 + 2
}

TEST(IntervalsTest, TouchingIntervalsJoin) {
  EXPECT_THAT(Union({Span(3, 5), Span(1, 3)}),
              ElementsAre(FieldsAre(Duration(1), Duration(5))));
}

TEST(IntervalsTest, AnIntervalInsideAnotherChangesNothing) {
  EXPECT_THAT(Union({Span(0, 10), Span(2, 3), Span(9, 10)}),
              ElementsAre(FieldsAre(Duration(0), Duration(10))));
}

TEST(IntervalsTest, EmptyAndBackwardIntervalsAreDropped) {
  EXPECT_THAT(Union({Span(5, 5), Span(8, 2)}), IsEmpty());
  EXPECT_EQ(TotalLength({}), Duration(0));
}

// The law: a nanosecond is covered by the union exactly if it is covered by
// one of the intervals.
TEST(IntervalsTest, CoversWhatAnyIntervalCovers) {
  constexpr int kEnd = 40;
  std::mt19937 random(1);
  std::uniform_int_distribution<int> point(0, kEnd);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> intervals;
    std::vector<bool> covered(kEnd, false);
    for (int i = 0; i < round % 8; ++i) {
      const int start = point(random);
      const int end = point(random);
      intervals.push_back(Span(start, end));
      for (int at = start; at < end; ++at) {
        covered[static_cast<size_t>(at)] = true;
      }
    }
    EXPECT_EQ(TotalLength(Union(intervals)).count(),
              std::ranges::count(covered, true))
        << "round " << round;
  }
}

}  // namespace
}  // namespace stepcast
