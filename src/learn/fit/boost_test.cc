#include "learn/fit/boost.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace stepcast::learn {
namespace {

// Rows whose kernel takes `base` microseconds times what `change` makes of the
// first of two features.
template <typename Change>
TrainingRows MadeRows(const Change& change, double lead_us) {
  Rng rng(3);
  TrainingRows rows;
  rows.feature_count = 2;
  for (int i = 0; i < 2000; ++i) {
    const auto x = static_cast<float>(rng.Below(1000)) / 100.0F;
    const auto noise = static_cast<float>(rng.Below(1000)) / 100.0F;
    rows.features.push_back(x);
    rows.features.push_back(noise);
    const double base = 10 + static_cast<double>(rng.Below(100));
    rows.rows.push_back(
        {.part = Part::kFit,
         .base_us = base,
         .lead_us = lead_us,
         .log_time = std::log(lead_us + base * std::exp2(change(x)))});
  }
  return rows;
}

std::vector<float> Evaluate(const std::vector<cost::Tree>& trees,
                            const TrainingRows& rows) {
  std::vector<float> sums(rows.rows.size());
  cost::Forest::Make(trees, rows.feature_count).Evaluate(rows.features, sums);
  return sums;
}

TEST(Boost, FindsWhatTheFormulaMisses) {
  const auto change = [](float x) { return x < 4 ? -0.5 : 0.25; };
  const TrainingRows rows = MadeRows(change, 20);
  const auto trees = Boost(
      rows, 0, {.rounds = 60, .depth = 3, .rate = 0.2, .feature_share = 1});
  ASSERT_TRUE(trees.has_value()) << trees.error().message;
  EXPECT_EQ(trees->size(), 60u);
  const std::vector<float> sums = Evaluate(*trees, rows);
  for (size_t i = 0; i < sums.size(); ++i) {
    const float x = rows.FeaturesOf(i)[0];
    // Thresholds are those of a histogram: one bin may be on the wrong side.
    if (std::abs(x - 4) > 0.1) {
      EXPECT_NEAR(sums[i], change(x), 0.05) << x;
    }
  }
}

TEST(Boost, CensoredRowsPullOnlyFromAbove) {
  // All that is known of these kernels is that they take no longer than so,
  // and the formula says less: there is nothing to learn.
  TrainingRows rows = MadeRows([](float) { return 2.0; }, 0);
  for (TrainingRow& row : rows.rows) {
    row.censored = true;
  }
  const auto below = Boost(rows, 0, {.rounds = 20});
  ASSERT_TRUE(below.has_value()) << below.error().message;
  for (const float sum : Evaluate(*below, rows)) {
    EXPECT_EQ(sum, 0);
  }
  // The formula says more: it must come down.
  rows = MadeRows([](float) { return -2.0; }, 0);
  for (TrainingRow& row : rows.rows) {
    row.censored = true;
  }
  const auto above = Boost(rows, 0, {.rounds = 100, .rate = 0.2});
  ASSERT_TRUE(above.has_value()) << above.error().message;
  for (const float sum : Evaluate(*above, rows)) {
    EXPECT_NEAR(sum, -2, 0.1);
  }
}

TEST(Boost, IsTheSameEveryTime) {
  const TrainingRows rows = MadeRows([](float x) { return std::sin(x); }, 10);
  const auto first = Boost(rows, 0.1, {.rounds = 30});
  const auto second = Boost(rows, 0.1, {.rounds = 30});
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(cost::Forest::Make(*first, 2).Text(),
            cost::Forest::Make(*second, 2).Text());
}

}  // namespace
}  // namespace stepcast::learn
