#include "ingest/correlation_map.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "ingest/link.h"

namespace stepcast::ingest {
namespace {

std::vector<RuntimeEvent> Calls(std::initializer_list<int64_t> correlations) {
  std::vector<RuntimeEvent> calls;
  for (const int64_t correlation : correlations) {
    calls.push_back({.correlation = correlation});
  }
  return calls;
}

TEST(CorrelationMapTest, FindsCallsByTheirId) {
  const CorrelationMap map(Calls({1000, 1002, 1001}));
  EXPECT_EQ(map.Find(1000), 0U);
  EXPECT_EQ(map.Find(1001), 2U);
  EXPECT_EQ(map.Find(1002), 1U);
  EXPECT_EQ(map.Find(999), kNoEvent);
  EXPECT_EQ(map.Find(1003), kNoEvent);
  EXPECT_EQ(map.duplicates(), 0);
}

// The ids span the whole range of a number: a table would not fit anywhere.
TEST(CorrelationMapTest, SparseIdsAreFoundToo) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const CorrelationMap map(Calls({kMost, 0, 1'000'000'000'000, 7}));
  EXPECT_EQ(map.Find(kMost), 0U);
  EXPECT_EQ(map.Find(0), 1U);
  EXPECT_EQ(map.Find(1'000'000'000'000), 2U);
  EXPECT_EQ(map.Find(7), 3U);
  EXPECT_EQ(map.Find(8), kNoEvent);
}

TEST(CorrelationMapTest, OfCallsWithOneIdTheFirstCounts) {
  const CorrelationMap dense(Calls({5, 6, 5, 5}));
  EXPECT_EQ(dense.Find(5), 0U);
  EXPECT_EQ(dense.duplicates(), 2);
  const CorrelationMap sparse(Calls({1'000'000'000, 6, 1'000'000'000}));
  EXPECT_EQ(sparse.Find(1'000'000'000), 0U);
  EXPECT_EQ(sparse.duplicates(), 1);
}

TEST(CorrelationMapTest, CallsWithoutAnIdAreNeverFound) {
  const CorrelationMap map(
      Calls({-1, 3, -1, std::numeric_limits<int64_t>::min()}));
  EXPECT_EQ(map.Find(-1), kNoEvent);
  EXPECT_EQ(map.Find(std::numeric_limits<int64_t>::min()), kNoEvent);
  EXPECT_EQ(map.Find(3), 1U);
  EXPECT_EQ(map.duplicates(), 0);
  EXPECT_EQ(CorrelationMap({}).Find(0), kNoEvent);
}

}  // namespace
}  // namespace stepcast::ingest
