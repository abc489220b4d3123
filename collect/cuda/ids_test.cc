#include "collect/cuda/ids.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

namespace stepcast::collect {
namespace {

TEST(ZipfTest, RanksComeAsOftenAsThePowerLawSays) {
  constexpr int64_t kRows = 50;
  constexpr int kDraws = 200000;
  for (const double alpha : {0.7, 1.0, 1.2}) {
    const Zipf zipf(kRows, alpha);
    Random random(3);
    std::map<int64_t, int> counts;
    for (int i = 0; i < kDraws; ++i) {
      ++counts[zipf.Draw(random)];
    }
    double total = 0;
    for (int64_t rank = 1; rank <= kRows; ++rank) {
      total += std::pow(static_cast<double>(rank), -alpha);
    }
    for (int64_t rank = 1; rank <= kRows; ++rank) {
      const double expected =
          kDraws * std::pow(static_cast<double>(rank), -alpha) / total;
      // Five standard deviations of a count.
      EXPECT_NEAR(counts[rank], expected, 5 * std::sqrt(expected))
          << "rank " << rank << ", alpha " << alpha;
    }
    EXPECT_EQ(counts.begin()->first, 1);
    EXPECT_LE(counts.rbegin()->first, kRows);
  }
}

TEST(MakeIdsTest, StayInTheTableAndAreTheSameForASeed) {
  for (const double alpha : {0.0, 1.05}) {
    for (const int64_t rows : {1, 2, 1000, 10000000}) {
      const auto ids = MakeIds(rows, 5000, alpha, 11);
      EXPECT_GE(*std::min_element(ids.begin(), ids.end()), 0);
      EXPECT_LT(*std::max_element(ids.begin(), ids.end()), rows);
      EXPECT_EQ(ids, MakeIds(rows, 5000, alpha, 11));
      if (rows > 2) {
        EXPECT_NE(ids, MakeIds(rows, 5000, alpha, 12));
      }
    }
  }
}

TEST(MakeIdsTest, APowerLawTouchesFarFewerRows) {
  const int64_t uniform = UniqueCount(MakeIds(1000000, 100000, 0, 5));
  const int64_t skewed = UniqueCount(MakeIds(1000000, 100000, 1.2, 5));
  // 1e6 (1 - exp(-0.1)) = 95163 of uniform ids are different.
  EXPECT_NEAR(static_cast<double>(uniform), 95163, 500);
  EXPECT_LT(skewed, uniform / 3);
}

TEST(MakeIdsTest, PopularRowsAreSpreadOverTheTable) {
  const auto ids = MakeIds(1000000, 100000, 1.2, 5);
  std::map<int64_t, int> counts;
  for (const int64_t id : ids) {
    ++counts[id];
  }
  // The two most popular ones are not adjacent.
  std::vector<std::pair<int, int64_t>> popular;
  for (const auto& [id, count] : counts) {
    popular.emplace_back(count, id);
  }
  std::sort(popular.rbegin(), popular.rend());
  EXPECT_GT(std::abs(popular[0].second - popular[1].second), 1000);
}

TEST(UniqueCountTest, CountsDifferentIds) {
  EXPECT_EQ(UniqueCount({3, 1, 3, 3, 2}), 3);
  EXPECT_EQ(UniqueCount({}), 0);
}

}  // namespace
}  // namespace stepcast::collect
