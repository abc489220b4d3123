#include "plan/sharders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/find_plan.h"
#include "plan/make_problem.h"
#include "plan/torchrec_perf.h"

namespace stepcast::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Tables of `dims` columns, 1000 rows and one id per sample, unsharded.
Problem Whole(const std::vector<int64_t>& dims, int ranks) {
  Problem problem;
  problem.ranks.count = ranks;
  problem.batch = 100;
  problem.capacity_bytes = 1e9;
  for (const int64_t dim : dims) {
    Table table{.name = "t", .group = {.rows = 1000, .dim = dim}};
    const auto us = static_cast<double>(dim);
    table.options = {{.load = {.forward_us = us,
                               .backward_us = us,
                               .bytes = 4000.0 * us,
                               .columns = us}}};
    problem.tables.push_back(std::move(table));
  }
  return problem;
}

std::vector<int> RanksOf(const Found& found) {
  std::vector<int> ranks;
  for (const Choice& choice : found.choices) {
    ranks.push_back(choice.places.front());
  }
  return ranks;
}

TEST(Sharders, AssignAsThePapersDo) {
  const Problem problem = Whole({8, 1, 2, 4, 3}, 2);
  EXPECT_THAT(RanksOf(ShardNaively(problem, {})), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(RanksOf(ShardInChunks(problem, {})), ElementsAre(0, 0, 0, 1, 1));
  // 8 | 4, then 3 and 2 to the one with 4 and 7, then 1 to the one with 8.
  EXPECT_THAT(RanksOf(ShardBySize(problem, {})), ElementsAre(0, 0, 1, 1, 1));
  EXPECT_THAT(RanksOf(ShardByLookups(problem, {})), ElementsAre(0, 0, 1, 1, 1));
}

TEST(Sharders, GreedyOnesGoWhereThereIsRoom) {
  Problem problem = Whole({8, 4, 4}, 2);
  problem.capacity_bytes = 4000.0 * 8;
  EXPECT_THAT(RanksOf(ShardBySize(problem, {})), ElementsAre(0, 1, 1));
  EXPECT_EQ(ShardRandomly(problem, {}).cost.over_bytes, 0);
}

TEST(Sharders, OursFindTheEvenSplit) {
  // 5 + 4 | 3 + 3 + 3: greedy by size has 5 + 3 | 4 + 3 + 3.
  const Problem problem = Whole({5, 4, 3, 3, 3}, 2);
  EXPECT_DOUBLE_EQ(ShardBySize(problem, {}).cost.forward_us, 10);
  EXPECT_DOUBLE_EQ(ShardByLocalSearch(problem, {}).cost.forward_us, 9);
  EXPECT_DOUBLE_EQ(ShardByBeam(problem, {}).cost.forward_us, 9);
}

TEST(Sharders, StopWithWhatTheyHave) {
  const Problem problem = Whole({5, 4, 3, 3, 3}, 2);
  SearchOptions options;
  options.stop = [] { return true; };
  for (const Sharder& sharder : Sharders()) {
    EXPECT_EQ(sharder.run(problem, options).choices.size(), 5) << sharder.name;
  }
}

TEST(TorchrecPerf, IsBytesOverBandwidths) {
  // 2 ranks x 100 samples x 1 id: 200 ids of 8 bytes, 200 rows of 512 bytes and
  // as many vectors: 206,400 bytes at 897 GiB/s, and 102,400 at 600.
  const Problem problem = Whole({128}, 2);
  constexpr double kGibPerMs = 1024.0 * 1024.0 * 1024.0 / 1e3;
  const TorchrecPerf whole = EstimateLikeTorchrec(
      problem, problem.tables[0], {.sharding = Sharding::kTableWise});
  EXPECT_DOUBLE_EQ(whole.forward_compute, 206'400 / (897 * kGibPerMs));
  EXPECT_DOUBLE_EQ(whole.backward_compute, 2 * whole.forward_compute);
  EXPECT_DOUBLE_EQ(whole.forward_comms, 102'400 / (600 * kGibPerMs));
  EXPECT_DOUBLE_EQ(whole.backward_comms, whole.forward_comms);
  // A slice of 64 columns: its rows count 1.15 times.
  const TorchrecPerf slice =
      EstimateLikeTorchrec(problem, problem.tables[0],
                           {.sharding = Sharding::kColumnWise, .shards = 2});
  EXPECT_DOUBLE_EQ(slice.forward_compute,
                   (1600 + 51'200 * 1.15 + 51'200) / (897 * kGibPerMs));
}

TEST(Constraints, ForbidWhatTheyDoNotName) {
  const auto constraint = ParseConstraint("t_*=table_wise,row_wise");
  ASSERT_TRUE(constraint) << constraint.error().message;
  EXPECT_THAT(AllowedFor("t_1", {*constraint}),
              ElementsAre(Sharding::kTableWise, Sharding::kRowWise));
  EXPECT_EQ(AllowedFor("u", {*constraint}).size(), kShardingCount);
  for (const char* wrong : {"t", "=row_wise", "t=", "t=sideways"}) {
    EXPECT_FALSE(ParseConstraint(wrong)) << wrong;
  }
}

TEST(WhyNot, NamesWhatBinds) {
  Problem problem = Whole({8, 4, 4}, 2);  // 32, 16 and 16 kB.
  problem.capacity_bytes = 20'000;
  const auto why = [&] {
    return FindWhyNot(problem, ShardBySize(problem, {}).choices);
  };
  EXPECT_EQ(why().binding, Binding::kTable);
  EXPECT_DOUBLE_EQ(why().over_bytes, 12'000);
  EXPECT_THAT(why().Text(problem), HasSubstr("table t needs"));
  problem = Whole({4, 4, 4}, 2);
  problem.capacity_bytes = 20'000;
  EXPECT_EQ(why().binding, Binding::kTotal);
  EXPECT_DOUBLE_EQ(why().over_bytes, 8'000);
  EXPECT_THAT(why().ways, ElementsAre(HasSubstr("3 GPUs"), HasSubstr("GB")));
  problem.capacity_bytes = 25'000;  // 16 + 16 | 16.
  EXPECT_EQ(why().binding, Binding::kRank);
  EXPECT_DOUBLE_EQ(why().over_bytes, 7'000);
  problem.capacity_bytes = -1;
  EXPECT_EQ(why().binding, Binding::kOtherMemory);
}

}  // namespace
}  // namespace stepcast::plan
