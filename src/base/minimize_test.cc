#include "base/minimize.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stepcast {
namespace {

TEST(Minimize, FindsTheBottomOfABentValley) {
  // Rosenbrock's function: 0 at (1, 1).
  const auto valley = [](std::span<const double> x) {
    return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
  };
  const auto found = Minimize(valley, {-1.2, 1}, {.evaluations = 1000});
  EXPECT_NEAR(found[0], 1, 1e-3);
  EXPECT_NEAR(found[1], 1, 1e-3);
}

TEST(Minimize, StartsFromZeroAndNeedsNoDerivative) {
  const auto corner = [](std::span<const double> x) {
    return std::abs(x[0] - 3) + std::abs(x[1] + 2) + std::abs(x[2]);
  };
  const auto found = Minimize(corner, {0, 0, 1}, {.evaluations = 2000});
  EXPECT_NEAR(found[0], 3, 1e-2);
  EXPECT_NEAR(found[1], -2, 1e-2);
  EXPECT_NEAR(found[2], 0, 1e-2);
}

TEST(Minimize, OfNothingIsNothing) {
  EXPECT_TRUE(
      Minimize([](std::span<const double>) { return 0.0; }, {}).empty());
}

}  // namespace
}  // namespace stepcast
