#include <cmath>
#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "cost/kernels/embedding/bag_tables.h"

namespace stepcast::cost {
namespace {

// Draws ids by inverting the distribution function.
std::vector<int64_t> SampleIds(double rows, double alpha, int count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double gamma = 1 - alpha;
  std::vector<int64_t> ids;
  for (int i = 0; i < count; ++i) {
    const double whole = std::pow(rows + 1, gamma) - 1;
    ids.push_back(
        static_cast<int64_t>(std::pow(uniform(random) * whole + 1, 1 / gamma)));
  }
  return ids;
}

// A cache of `capacity` rows that replaces the least recently used one.
int64_t CountMisses(const std::vector<int64_t>& ids, size_t capacity) {
  std::list<int64_t> order;
  std::unordered_map<int64_t, std::list<int64_t>::iterator> where;
  int64_t misses = 0;
  for (const int64_t id : ids) {
    if (const auto found = where.find(id); found != where.end()) {
      order.splice(order.begin(), order, found->second);
      continue;
    }
    ++misses;
    order.push_front(id);
    where[id] = order.begin();
    if (order.size() > capacity) {
      where.erase(order.back());
      order.pop_back();
    }
  }
  return misses;
}

TEST(IndexDistribution, CountsDistinctRowsAsASimulationDoes) {
  for (const double alpha : {0.0, 0.5, 1.05, 1.4}) {
    const std::vector<int64_t> ids = SampleIds(50'000, alpha, 30'000);
    const std::map<int64_t, int> seen = [&] {
      std::map<int64_t, int> counts;
      for (const int64_t id : ids) {
        ++counts[id];
      }
      return counts;
    }();
    const double expected =
        IndexDistribution(50'000, alpha).ExpectedUnique(30'000);
    EXPECT_NEAR(expected / static_cast<double>(seen.size()), 1, 0.015) << alpha;
  }
}

TEST(IndexDistribution, MeetsThePublishedDistinctRowsOfAPowerLaw) {
  // FBGEMM's benchmark on an H100 draws 104857 ids with alpha 1.05 for each of
  // 10 tables and prints the distinct ones: 350280 of 1677721 rows per table,
  // 433722.7 of 26843545.
  EXPECT_NEAR(
      10 * IndexDistribution(1677721, 1.05).ExpectedUnique(104857) / 350280, 1,
      0.002);
  EXPECT_NEAR(
      10 * IndexDistribution(26843545, 1.05).ExpectedUnique(104857) / 433722.7,
      1, 0.002);
}

TEST(IndexDistribution, SumsToOneAndStartsWithTheHottestRow) {
  for (const double rows : {1.0, 2.0, 5.0, 17.0, 1e3, 4e7}) {
    for (const double alpha : {0.0, 0.3, 1.0, 2.0}) {
      const IndexDistribution ids(rows, alpha);
      double all_rows = 0;
      double all_samples = 0;
      for (const auto& bin : ids.bins()) {
        all_rows += bin.rows;
        all_samples += bin.rows * bin.probability;
        EXPECT_LE(bin.probability, ids.hottest() * (1 + 1e-9));
      }
      EXPECT_NEAR(all_rows / rows, 1, 1e-9);
      EXPECT_NEAR(all_samples, 1, 1e-9);
    }
  }
}

TEST(IndexDistribution, InvertsTheNumberOfDistinctRows) {
  const IndexDistribution ids(1e6, 1.05);
  EXPECT_NEAR(ids.LookupsFor(ids.ExpectedUnique(250'000)), 250'000, 10);
  EXPECT_TRUE(std::isinf(ids.LookupsFor(2e6)));
}

TEST(AlphaForUnique, FindsTheAlphaThatWasUsed) {
  const double unique = IndexDistribution(1e6, 0.8).ExpectedUnique(50'000);
  EXPECT_NEAR(AlphaForUnique(1e6, 50'000, unique), 0.8, 1e-6);
  // More distinct rows than uniform ids would give: uniform.
  EXPECT_EQ(AlphaForUnique(1e6, 50'000, 50'000), 0);
}

TEST(ExpectedMisses, FollowsASimulatedCache) {
  for (const double alpha : {0.0, 0.7, 1.05}) {
    const std::vector<int64_t> ids = SampleIds(20'000, alpha, 40'000);
    for (const int capacity : {100, 1000, 5000, 50'000}) {
      const double expected = ExpectedMisses(
          IndexDistribution(20'000, alpha), 40'000,
          {.bytes = capacity * 512.0, .row_bytes = 512, .stream_bytes = 0});
      const auto counted =
          static_cast<double>(CountMisses(ids, static_cast<size_t>(capacity)));
      EXPECT_NEAR(expected / counted, 1, 0.03) << alpha << " " << capacity;
    }
  }
}

TEST(ExpectedMisses, GrowWithLookupsRowsAndStreamAndShrinkWithTheCache) {
  const RowCache cache{.bytes = 1e6, .row_bytes = 256, .stream_bytes = 16};
  for (const double alpha : {0.0, 1.05}) {
    const auto misses = [&](double rows, double lookups, const RowCache& with) {
      return ExpectedMisses(IndexDistribution(rows, alpha), lookups, with);
    };
    double before = 0;
    for (double lookups = 10; lookups < 1e6; lookups *= 1.3) {
      const double now = misses(1e5, lookups, cache);
      EXPECT_GE(now, before);
      EXPECT_LE(now, lookups * (1 + 1e-9));
      before = now;
    }
    EXPECT_LT(misses(1e5, 1e5, cache), misses(1e6, 1e5, cache));
    RowCache other = cache;
    other.stream_bytes = 512;
    EXPECT_LT(misses(1e5, 1e5, cache), misses(1e5, 1e5, other));
    other = cache;
    other.bytes = 4e6;
    EXPECT_GT(misses(1e5, 1e5, cache), misses(1e5, 1e5, other));
  }
}

TEST(CountRuns, CountsAsASimulationDoes) {
  const std::vector<int64_t> ids = SampleIds(5'000, 1.05, 60'000);
  std::map<int64_t, int> counts;
  for (const int64_t id : ids) {
    ++counts[id];
  }
  double long_rows = 0;
  double long_lookups = 0;
  for (const auto& [id, count] : counts) {
    if (count > 32) {
      long_rows += 1;
      long_lookups += count;
    }
  }
  const Runs runs = CountRuns(IndexDistribution(5'000, 1.05), 60'000, 32);
  EXPECT_NEAR(runs.long_rows / long_rows, 1, 0.06);
  EXPECT_NEAR(runs.long_lookups / long_lookups, 1, 0.02);
  EXPECT_NEAR(runs.short_rows + runs.long_rows,
              static_cast<double>(counts.size()), 60);
  EXPECT_NEAR(runs.short_lookups + runs.long_lookups, 60'000, 1);
}

TEST(CountRuns, OfFewLookupsNoneIsLong) {
  const Runs runs = CountRuns(IndexDistribution(1e6, 0), 1000, 32);
  EXPECT_NEAR(runs.long_rows, 0, 1e-6);
  EXPECT_NEAR(runs.short_lookups, 1000, 1e-3);
}

}  // namespace
}  // namespace stepcast::cost
