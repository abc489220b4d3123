#include "base/stats.h"

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

}  // namespace
}  // namespace stepcast
