#include "learn/fit/mlp.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace stepcast::learn {
namespace {

// Points of a square of 8 by 8 and a function of both coordinates.
struct Points {
  std::vector<float> inputs;
  std::vector<float> targets;
};

template <typename Function>
Points Sample(size_t count, uint64_t seed, Function function) {
  Rng rng(seed);
  Points points;
  for (size_t i = 0; i < count; ++i) {
    const auto x = static_cast<float>(rng.Between(0, 8000)) / 1000;
    const auto y = static_cast<float>(rng.Between(0, 8000)) / 1000;
    points.inputs.insert(points.inputs.end(), {x, y});
    points.targets.push_back(function(x, y));
  }
  return points;
}

double WorstError(const Mlp& net, const Points& points) {
  std::vector<float> outputs(points.targets.size());
  net.Predict(points.inputs, outputs);
  double worst = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    worst = std::max(
        worst, static_cast<double>(std::abs(outputs[i] - points.targets[i])));
  }
  return worst;
}

constexpr MlpOptions kSmall = {
    .width = 16, .layers = 2, .epochs = 80, .batch = 32, .rate = 5e-3};

// Time is the larger of arithmetic and traffic: a kink that no linear model
// has.
float Roofline(float x, float y) {
  return std::max(x + y, 7.0F);
}

TEST(MlpTest, LearnsAKinkAndHoldsOnPointsItNeverSaw) {
  const Points fit = Sample(600, 1, Roofline);
  const Mlp net = Mlp::Train(fit.inputs, fit.targets, 2, kSmall);
  // The function spans 7 to 16.
  EXPECT_LT(WorstError(net, Sample(500, 2, Roofline)), 0.35);
}

TEST(MlpTest, TheSameSeedGivesTheSameBits) {
  const Points fit = Sample(100, 1, Roofline);
  MlpOptions options = kSmall;
  options.epochs = 3;
  std::vector<float> first(100);
  std::vector<float> second(100);
  std::vector<float> other(100);
  Mlp::Train(fit.inputs, fit.targets, 2, options).Predict(fit.inputs, first);
  Mlp::Train(fit.inputs, fit.targets, 2, options).Predict(fit.inputs, second);
  options.seed = 2;
  Mlp::Train(fit.inputs, fit.targets, 2, options).Predict(fit.inputs, other);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

TEST(MlpTest, ARowIsPredictedTheSameInAnyCompany) {
  const Points fit = Sample(150, 1, Roofline);
  MlpOptions options = kSmall;
  options.epochs = 2;
  const Mlp net = Mlp::Train(fit.inputs, fit.targets, 2, options);
  std::vector<float> together(150);
  net.Predict(fit.inputs, together);
  for (size_t i = 0; i < together.size(); ++i) {
    float alone = 0;
    net.Predict(std::span(fit.inputs).subspan(2 * i, 2), {&alone, 1});
    EXPECT_FLOAT_EQ(alone, together[i]) << i;
  }
}

TEST(MlpTest, WeightDecayHoldsTheOutputBack) {
  // A constant is learned by weights and biases alike, and both decay: the more
  // they do, the further the output stays below it.
  const Points fit = Sample(300, 1, [](float, float) { return 10.0F; });
  MlpOptions options = kSmall;
  const double loose =
      WorstError(Mlp::Train(fit.inputs, fit.targets, 2, options), fit);
  options.weight_decay = 1;
  const double tight =
      WorstError(Mlp::Train(fit.inputs, fit.targets, 2, options), fit);
  EXPECT_LT(loose, 1);
  EXPECT_GT(tight, 2);
}

}  // namespace
}  // namespace stepcast::learn
