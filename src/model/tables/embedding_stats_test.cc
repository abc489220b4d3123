#include "model/tables/embedding_stats.h"

#include <cmath>
#include <numeric>
#include <unordered_set>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace stepcast::model {
namespace {

constexpr uint64_t kSeed = 7;

// Rows by the inverse of the distribution function of x^-alpha.
int64_t SampleZipf(Rng& rng, double rows, double alpha) {
  const double u = static_cast<double>(rng.Next() >> 11) * 0x1p-53;
  const double top = std::pow(rows + 1, 1 - alpha);
  return static_cast<int64_t>(std::pow(1 + u * (top - 1), 1 / (1 - alpha)));
}

TEST(EmbeddingStatsTest, UniformIdsTouchRowsInClosedForm) {
  const IdDistribution ids{.kind = IdKind::kUniform};
  // 1000 (1 - 0.999^1000) = 632.3
  EXPECT_NEAR(EmbeddingStats(ids, 1000, kSeed).UniqueRows(1000), 632.3, 0.1);
}

TEST(EmbeddingStatsTest, ZipfAgreesWithDraws) {
  const IdDistribution ids{.kind = IdKind::kZipf, .alpha = 1.2};
  Rng rng(kSeed);
  std::unordered_set<int64_t> seen;
  for (int i = 0; i < 20000; ++i) {
    seen.insert(SampleZipf(rng, 100000, 1.2));
  }
  const double expected = EmbeddingStats(ids, 100000, kSeed).UniqueRows(20000);
  EXPECT_NEAR(expected / static_cast<double>(seen.size()), 1, 0.02);
}

TEST(EmbeddingStatsTest, OneStepOfAHistogramIsUniform) {
  const IdDistribution uniform{.kind = IdKind::kUniform};
  const IdDistribution histogram{.kind = IdKind::kHistogram,
                                 .steps = {{.rows = 1, .lookups = 1}}};
  EXPECT_NEAR(EmbeddingStats(histogram, 500, kSeed).UniqueRows(700),
              EmbeddingStats(uniform, 500, kSeed).UniqueRows(700), 1e-9);
}

TEST(EmbeddingStatsTest, MeasuredIdsAreCountedInWindows) {
  IdDistribution ids{.kind = IdKind::kMeasured};
  for (int i = 0; i < 1000; ++i) {
    ids.ids.push_back(i % 10);
  }
  const EmbeddingStats stats(ids, 100, kSeed);
  EXPECT_EQ(stats.UniqueRows(5), 5);
  EXPECT_EQ(stats.UniqueRows(50), 10);
  EXPECT_EQ(stats.HitRate(10), 1);
}

// Every row that is touched is in one place of the histogram.
TEST(EmbeddingStatsTest, TheReuseHistogramHoldsAllTouchedRows) {
  const IdDistribution ids{.kind = IdKind::kZipf, .alpha = 1.1};
  const EmbeddingStats stats(ids, 10000, kSeed);
  const std::vector<double> histogram = stats.ReuseHistogram(5000);
  EXPECT_NEAR(std::accumulate(histogram.begin(), histogram.end(), 0.0) /
                  stats.UniqueRows(5000),
              1, 0.01);
}

TEST(EmbeddingStatsTest, ACacheOfUniformIdsHitsItsShare) {
  const IdDistribution ids{.kind = IdKind::kUniform};
  const EmbeddingStats stats(ids, 1000, kSeed);
  EXPECT_EQ(stats.HitRate(0), 0);
  EXPECT_NEAR(stats.HitRate(250), 0.25, 0.001);
  EXPECT_EQ(stats.HitRate(1000), 1);
}

TEST(EmbeddingStatsTest, SkewedIdsHitMore) {
  const IdDistribution flat{.kind = IdKind::kZipf, .alpha = 0.5};
  const IdDistribution steep{.kind = IdKind::kZipf, .alpha = 1.5};
  EXPECT_GT(EmbeddingStats(steep, 100000, kSeed).HitRate(1000),
            EmbeddingStats(flat, 100000, kSeed).HitRate(1000) + 0.3);
}

TEST(CommonAlphaTest, IsTheirOwnWhereTablesAgree) {
  const std::vector<TableGroup> tables = {
      {.rows = 10, .dim = 2, .ids = {.kind = IdKind::kZipf, .alpha = 1.05}},
      {.rows = 99, .dim = 2, .ids = {.kind = IdKind::kZipf, .alpha = 1.05}}};
  EXPECT_EQ(CommonAlpha(tables, 16, kSeed), 1.05);
}

TEST(CommonAlphaTest, IsUnknownIfOneTableIs) {
  const std::vector<TableGroup> tables = {
      {.rows = 10, .dim = 2, .ids = {.kind = IdKind::kUniform}},
      {.rows = 99, .dim = 2}};
  EXPECT_EQ(CommonAlpha(tables, 16, kSeed), -1);
}

TEST(CommonAlphaTest, TouchesAsManyRowsAsTheTablesDo) {
  const std::vector<TableGroup> tables = {
      {.rows = 100000, .dim = 2, .ids = {.kind = IdKind::kUniform}},
      {.rows = 100000, .dim = 2, .ids = {.kind = IdKind::kZipf, .alpha = 1.4}}};
  const double alpha = CommonAlpha(tables, 4096, kSeed);
  double wanted = 0;
  double reached = 0;
  const IdDistribution common{.kind = IdKind::kZipf, .alpha = alpha};
  for (const TableGroup& group : tables) {
    wanted += EmbeddingStats(group.ids, group.rows, kSeed).UniqueRows(4096);
    reached += EmbeddingStats(common, group.rows, kSeed).UniqueRows(4096);
  }
  EXPECT_NEAR(reached / wanted, 1, 0.01);
}

}  // namespace
}  // namespace stepcast::model
