#include "base/rng.h"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace stepcast {
namespace {

// The first outputs of the reference implementation for seed 1234567.
TEST(RngTest, GivesTheNumbersOfTheReference) {
  Rng rng(1234567);
  EXPECT_EQ(rng.Next(), 6457827717110365317u);
  EXPECT_EQ(rng.Next(), 3203168211198807973u);
  EXPECT_EQ(rng.Next(), 9817491932198370423u);
}

TEST(RngTest, BetweenIncludesBothEnds) {
  Rng rng(1);
  std::array<int, 3> seen{};
  for (int i = 0; i < 100; ++i) {
    const int64_t value = rng.Between(-1, 1);
    ASSERT_GE(value, -1);
    ASSERT_LE(value, 1);
    ++seen[static_cast<size_t>(value + 1)];
  }
  for (const int count : seen) {
    EXPECT_GT(count, 10);
  }
}

TEST(RngTest, BetweenTakesTheWholeRange) {
  Rng rng(2);
  bool negative = false;
  bool positive = false;
  for (int i = 0; i < 64; ++i) {
    const int64_t value = rng.Between(std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::max());
    negative = negative || value < 0;
    positive = positive || value > 0;
  }
  EXPECT_TRUE(negative && positive);
}

}  // namespace
}  // namespace stepcast
