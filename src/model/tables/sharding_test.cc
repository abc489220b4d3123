#include "model/tables/sharding.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "model/shapes.h"

namespace stepcast::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<RankShare> Share(const Model& model, std::string_view impl,
                             int64_t world, int64_t batch = 0) {
  Settings settings;
  settings.impl = *FindImplementation(impl);
  settings.batch = batch;
  auto shares = ShareTables(model, settings, world);
  EXPECT_TRUE(shares) << shares.error().message;
  return shares ? *std::move(shares) : std::vector<RankShare>{};
}

int64_t Rows(const RankPlan& plan) {
  int64_t rows = 0;
  for (const TableGroup& group : plan.local) {
    rows += group.count * group.rows;
  }
  return rows;
}

// Numbers of all tables. Every rank's copy of a replicated one is the same.
int64_t Elements(const std::vector<RankShare>& shares) {
  int64_t elements = 0;
  for (const RankShare& share : shares) {
    for (const auto* tables :
         {&share.plan.local, &share.plan.split, &share.plan.node_split}) {
      for (const TableGroup& group : *tables) {
        elements += share.count * group.count * group.rows * group.dim;
      }
    }
  }
  for (const TableGroup& group : shares.front().plan.replicated) {
    elements += group.count * group.rows * group.dim;
  }
  return elements;
}

int64_t Elements(const Model& model) {
  int64_t elements = 0;
  for (const TableGroup& group : model.tables) {
    elements += group.count * group.rows * group.dim;
  }
  return elements;
}

class EveryRule
    : public ::testing::TestWithParam<std::pair<const char*, int64_t>> {};

TEST_P(EveryRule, AssignsEveryTableOnce) {
  const auto [impl, world] = GetParam();
  for (const char* const name :
       {"nvidia_dlrm_t3", "nvidia_dlrm_t0", "mlperf_dlrm_dcnv2",
        "production_197", "ncf"}) {
    const auto model = FindModel(name);
    ASSERT_TRUE(model);
    const std::vector<RankShare> shares = Share(*model, impl, world);
    int64_t ranks = 0;
    for (const RankShare& share : shares) {
      ranks += share.count;
      EXPECT_EQ(share.plan.world, world);
      EXPECT_EQ(share.plan.replicated, shares.front().plan.replicated);
    }
    EXPECT_EQ(ranks, world) << impl << " " << name;
    EXPECT_EQ(Elements(shares), Elements(*model)) << impl << " " << name;
  }
}

TEST_P(EveryRule, FoldsRanksThatAreAlike) {
  const auto [impl, world] = GetParam();
  const auto model = FindModel("mlperf_dlrm_dcnv2");
  ASSERT_TRUE(model);
  const std::vector<RankShare> shares = Share(*model, impl, world);
  // A rank for each table or column of one, and those that are left over.
  EXPECT_LE(std::ssize(shares), 64);
  for (size_t i = 0; i < shares.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const RankPlan& a = shares[i].plan;
      const RankPlan& b = shares[j].plan;
      EXPECT_FALSE(a.local == b.local && a.split == b.split &&
                   a.bottom_mlp == b.bottom_mlp)
          << impl << ": ranks " << b.rank << " and " << a.rank;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sharding, EveryRule,
    ::testing::Values(std::pair("pytorch", 4), std::pair("pytorch", 64),
                      std::pair("torchrec", 2), std::pair("torchrec", 16),
                      std::pair("torchrec", 16384), std::pair("nvidia", 4),
                      std::pair("nvidia", 8), std::pair("nvidia", 1024),
                      std::pair("hugectr", 8), std::pair("hugectr", 128),
                      std::pair("hugectr", 16384),
                      std::pair("hugectr-localized", 16),
                      std::pair("tensorflow", 8),
                      std::pair("tensorflow", 4096)));

TEST(ShardingTest, NvidiaKeepsTheRankOfTheBottomMlpFreeOfTables) {
  const auto model = FindModel("nvidia_dlrm_t3");
  ASSERT_TRUE(model);
  const std::vector<RankShare> eight = Share(*model, "nvidia", 8);
  ASSERT_EQ(eight.size(), 8u);
  EXPECT_TRUE(eight.front().plan.bottom_mlp);
  EXPECT_TRUE(eight.front().plan.local.empty());
  EXPECT_EQ(eight.front().plan.loads.front().columns, 128);
  int64_t largest = 0;
  for (const RankShare& share : eight) {
    EXPECT_LE(std::ssize(share.plan.local), 4);  // 26 tables over 7 ranks.
    EXPECT_EQ(share.plan.bottom_mlp, share.plan.rank == 0);
    largest = std::max(largest, Rows(share.plan));
  }
  // No rank has more than the largest table and what fits next to it.
  EXPECT_LT(largest, 48'937'457 + 1'000'000);
  const std::vector<RankShare> four = Share(*model, "nvidia", 4);
  EXPECT_TRUE(four.front().plan.bottom_mlp);
  EXPECT_FALSE(four.front().plan.local.empty());
}

TEST(ShardingTest, TensorflowBalancesMemoryAndCutsLargeTablesIntoColumns) {
  const auto model = FindModel("nvidia_dlrm_t0");
  ASSERT_TRUE(model);
  double most = 0;
  double all = 0;
  int64_t narrow = 0;
  for (const RankShare& share : Share(*model, "tensorflow", 8)) {
    double elements = 0;
    for (const TableGroup& group : share.plan.local) {
      elements += static_cast<double>(group.rows * group.dim);
      narrow += group.dim < 128 ? 1 : 0;
    }
    most = std::max(most, elements);
    all += elements * static_cast<double>(share.count);
  }
  EXPECT_GE(narrow, 5 * 4);  // The five tables above 5e9 numbers.
  EXPECT_LT(most, 1.3 * all / 8);
}

// As assigned by TorchRec's planner to the 8 ranks of the recorded DLRM: the
// ids that each rank looks up for 128 samples, and the numbers it holds.
TEST(ShardingTest, TorchrecAssignsAsRecorded) {
  const auto model = ParseModel(
      "batch = 16\ndense_features = 13\nbottom_mlp = [256, 128, 16]\n"
      "top_mlp = [512, 512, 256, 1]\nembedding_dim = 16\n"
      "table_rows = [40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63,\n"
      "  40000000, 3067956, 405282, 10, 2209, 11938, 155, 4, 976, 14,\n"
      "  40000000, 40000000, 40000000, 590152, 12973, 108, 36]\n"
      "pooling = [3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1,\n"
      "  12, 100, 27, 10, 3, 1, 1]\n",
      "recorded.toml", {});
  ASSERT_TRUE(model) << model.error().message;
  std::vector<int64_t> ids;
  std::vector<int64_t> elements;
  for (const RankShare& share : Share(*model, "torchrec", 8)) {
    EXPECT_EQ(share.count, 1);
    EXPECT_EQ(share.plan.local.size(), 3u);
    EXPECT_EQ(share.plan.replicated.size(), 2u);
    ids.push_back(LookupsOf(share.plan.local, 128));
    elements.push_back(Rows(share.plan) * 16);
  }
  EXPECT_THAT(ids, ElementsAre(768, 1792, 2304, 13312, 4736, 768, 1536, 1920));
  EXPECT_THAT(elements,
              ElementsAre(640'649'648, 640'339'856, 640'279'200, 640'209'296,
                          640'192'016, 49'206'656, 9'556'608, 6'520'016));
}

TEST(ShardingTest, HugectrReplicatesSmallTablesAndSplitsHotOnes) {
  const auto model = FindModel("mlperf_dlrm_dcnv2");
  ASSERT_TRUE(model);
  const std::vector<RankShare> shares = Share(*model, "hugectr", 8);
  const RankPlan& plan = shares.front().plan;
  EXPECT_EQ(plan.replicated.size(), 15u);  // Below 15,625 rows of 512 bytes.
  ASSERT_FALSE(plan.split.empty());
  EXPECT_EQ(plan.split.front().rows, 5'000'000);
  EXPECT_DOUBLE_EQ(plan.split.front().pooling, 12.5);
}

// Two nodes of two ranks: a table on rank 1, one split over the first node, one
// over all ranks, one on every rank.
TEST(ShardingTest, TakesAnAssignmentMadeElsewhere) {
  Model model;
  model.batch = 10;
  model.tables = {{.count = 4, .rows = 100, .dim = 8, .pooling = 4}};
  TableGroup table = model.tables.front();
  table.count = 1;
  const TableAssignment assignment{.local = {{}, {table}},
                                   .replicated = {table},
                                   .split = {table},
                                   .node_split = {{table}, {}},
                                   .ranks_per_node = 2};
  Settings settings;
  settings.impl = *FindImplementation("torchrec");
  const auto shares = ShareAssignment(model, settings, 4, assignment);
  ASSERT_TRUE(shares) << shares.error().message;
  ASSERT_EQ(shares->size(), 3u);  // The ranks of the second node are alike.
  const RankPlan& first = shares->front().plan;
  ASSERT_EQ(first.node_split.size(), 1u);
  EXPECT_EQ(first.node_split.front().rows, 50);
  EXPECT_DOUBLE_EQ(first.node_split.front().pooling, 2);
  EXPECT_THAT(first.node_columns, ElementsAre(8, 0));
  EXPECT_EQ(first.loads[1].node_ids, 20);  // 10 samples of 2 ids.
  EXPECT_EQ(first.loads[2].node_ids, 0);
  EXPECT_EQ(shares->at(1).plan.local.size(), 1u);
  EXPECT_TRUE(shares->at(2).plan.node_split.empty());
  EXPECT_EQ(shares->at(2).plan.split.front().rows, 25);
  settings.impl = *FindImplementation("hugectr");
  const auto other = ShareAssignment(model, settings, 4, assignment);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("expected torchrec"));
}

// 64 ranks on 8 nodes. The table with 100 ids per sample has more than half
// of all lookups: every node has an eighth of its rows, every rank an eighth
// of that.
TEST(ShardingTest, HugectrAssignsTablesToNodesAndSplitsThemThere) {
  const auto model = FindModel("mlperf_dlrm_dcnv2");
  ASSERT_TRUE(model);
  Settings settings;
  settings.impl = *FindImplementation("hugectr");
  const auto shares = ShareTables(*model, settings, 64, 8);
  ASSERT_TRUE(shares) << shares.error().message;
  int64_t ranks = 0;
  double lookups = 0;
  int64_t columns = 0;
  for (const RankShare& share : *shares) {
    ranks += share.count;
    EXPECT_TRUE(share.plan.local.empty());
    EXPECT_TRUE(share.plan.split.empty());
    const bool has_hot =
        std::ranges::any_of(share.plan.node_split, [](const TableGroup& table) {
          return table.rows == 625'000 && table.pooling == 100.0 / 64;
        });
    EXPECT_TRUE(has_hot) << "rank " << share.plan.rank;
    for (const TableGroup& table : share.plan.node_split) {
      lookups += static_cast<double>(share.count) * table.pooling;
      columns += share.count * table.dim;
    }
    EXPECT_EQ(share.plan.nodes, 8);
  }
  EXPECT_EQ(ranks, 64);
  EXPECT_NEAR(lookups, 179, 1e-6);  // Of the 11 tables above 8 MB.
  const std::vector<int64_t>& by_node = shares->front().plan.node_columns;
  EXPECT_EQ(columns,
            8 * std::accumulate(by_node.begin(), by_node.end(), int64_t{0}));
}

// One id per sample everywhere: rows used most are on every rank.
TEST(ShardingTest, HugectrKeepsHotRowsOnEveryRank) {
  const auto model = FindModel("mlperf_dlrm");
  ASSERT_TRUE(model);
  const RankPlan plan = Share(*model, "hugectr", 8, 6912).front().plan;
  EXPECT_TRUE(plan.hot_rows);
  double hot = 0;
  double cold = 0;
  for (const TableGroup& table : plan.replicated) {
    hot += table.pooling;
  }
  for (const TableGroup& table : plan.split) {
    cold += 8 * table.pooling;
  }
  EXPECT_NEAR(hot + cold, 26, 1e-6);
  EXPECT_GT(hot, 0.6 * 26);
  // A smaller batch makes fewer rows worth it.
  double hot_of_few = 0;
  const std::vector<RankShare> few = Share(*model, "hugectr", 8, 64);
  for (const TableGroup& table : few.front().plan.replicated) {
    hot_of_few += table.pooling;
  }
  EXPECT_LT(hot_of_few, hot);
}

TEST(ShardingTest, LocalizedSlotsGoToTheRanksInTurn) {
  const auto model = FindModel("mlperf_dlrm");
  ASSERT_TRUE(model);
  const std::vector<RankShare> shares = Share(*model, "hugectr-localized", 16);
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares.front().plan.local.front().rows, 39'884'406);
  EXPECT_EQ(std::ssize(shares.front().plan.local), 2);
}

TEST(ShardingTest, OneRankHasAllAndErrorsSayWhatIsExpected) {
  const auto model = FindModel("ncf");
  ASSERT_TRUE(model);
  const std::vector<RankShare> one = Share(*model, "triton", 1);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one.front().plan.local, model->tables);
  Settings settings;
  settings.impl = *FindImplementation("triton");
  auto shares = ShareTables(*model, settings, 2);
  ASSERT_FALSE(shares);
  EXPECT_THAT(shares.error().message, HasSubstr("expected"));
  shares = ShareTables(*model, settings, 6, 4);
  ASSERT_FALSE(shares);
  EXPECT_THAT(shares.error().message,
              HasSubstr("6 ranks on 4 nodes; expected"));
  shares = ShareTables(*model, settings, 0);
  ASSERT_FALSE(shares);
  EXPECT_THAT(shares.error().message, HasSubstr("0 ranks; expected 1 to"));
}

}  // namespace
}  // namespace stepcast::model
