#include "collect/cuda/statistics.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::collect {
namespace {

using ::testing::ElementsAre;

TEST(QuantileTest, InterpolatesBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(Quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(Quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(Median({5}), 5);
}

TEST(OutlierTest, OnlySlowOnesAreTakenOff) {
  EXPECT_THAT(WithoutOutliers({1, 10, 10, 11, 11, 90}),
              ElementsAre(1, 10, 10, 11, 11));
}

TEST(MedianErrorTest, ShrinksWithTheRootOfTheCount) {
  const std::vector<double> few = {9, 10, 11, 10};
  std::vector<double> many;
  for (int i = 0; i < 16; ++i) {
    many.insert(many.end(), few.begin(), few.end());
  }
  EXPECT_NEAR(MedianError(few) / MedianError(many), 4, 1.5);
  EXPECT_TRUE(std::isinf(MedianError({5})));
  EXPECT_TRUE(std::isinf(MedianError({0, 0, 0})));
}

TEST(SamplerTest, SteadyTimesAreDoneAtTheFewest) {
  Sampler sampler(5, 60, 0.01);
  for (int i = 0; i < 4; ++i) {
    sampler.Add(7);
    EXPECT_FALSE(sampler.IsDone());
  }
  sampler.Add(7);
  EXPECT_TRUE(sampler.IsStable());
}

TEST(SamplerTest, WildTimesAreGivenUpAndSayThatTheyAreNotStable) {
  Sampler sampler(5, 12, 0.01);
  int count = 0;
  while (!sampler.IsDone()) {
    sampler.Add(count++ % 2 == 0 ? 10 : 20);
  }
  EXPECT_EQ(count, 12);
  EXPECT_FALSE(sampler.Summarize().is_stable);
}

TEST(SamplerTest, TheSummaryLeavesOutliersOut) {
  Sampler sampler;
  for (const double time : {10.0, 10.1, 9.9, 10.0, 500.0}) {
    sampler.Add(time);
  }
  const Summary summary = sampler.Summarize();
  EXPECT_DOUBLE_EQ(summary.time_us, 10);
  EXPECT_DOUBLE_EQ(summary.min_us, 9.9);
  EXPECT_EQ(summary.count, 4);
  EXPECT_EQ(summary.outliers, 1);
}

TEST(ThrottleWatchTest, ASlowReferenceIsNoticedOnceTheMarkHasSettled) {
  ThrottleWatch watch;
  EXPECT_EQ(watch.mark_us(), 0);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(watch.Check(100));
  }
  EXPECT_TRUE(watch.Check(110));
  EXPECT_FALSE(watch.Check(125));
  EXPECT_EQ(watch.throttled(), 1);
  EXPECT_TRUE(watch.Check(101));
}

}  // namespace
}  // namespace stepcast::collect
