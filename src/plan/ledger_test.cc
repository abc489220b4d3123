#include "plan/ledger.h"

#include <gtest/gtest.h>

namespace stepcast::plan {
namespace {

// One microsecond a byte over the wire.
CostCurve ByteCurve() {
  return CostCurve(1e6, [](double bytes) { return bytes; });
}

// Two ranks, two tables of one column. A sample of one byte goes to the other
// rank: columns x batch x (ranks - 1) bytes.
Problem TwoTables() {
  Problem problem;
  problem.ranks.count = 2;
  problem.batch = 1;
  problem.element_bytes = 1;
  problem.capacity_bytes = 100;
  problem.other_us = 1000;  // Hides the exchange of ids.
  problem.exchanges.to_samples = ByteCurve();
  problem.exchanges.reduce_scatter = ByteCurve();
  problem.exchanges.all_gather = ByteCurve();
  problem.exchanges.all_reduce = ByteCurve();
  for (const double us : {10.0, 4.0}) {
    Table table{.group = {.rows = 1, .dim = 1}};
    table.options = {
        {.sharding = Sharding::kTableWise,
         .load = {.forward_us = us,
                  .backward_us = 2 * us,
                  .bytes = 60,
                  .columns = 1}},
        {.sharding = Sharding::kRowWise,
         .shards = 2,
         .load = {.forward_us = us / 2,
                  .backward_us = us,
                  .bytes = 30,
                  .columns = 1}},
        {.sharding = Sharding::kDataParallel,
         .shards = 2,
         .load = {
             .forward_us = 1, .backward_us = 2, .bytes = 60, .columns = 1}}};
    problem.tables.push_back(std::move(table));
  }
  return problem;
}

TEST(Ledger, TakesEachPhaseFromItsBusiestRank) {
  const Problem problem = TwoTables();
  // rank 0: | fwd 10 | vectors 1 |  ...  | vectors 1 | bwd 20 |
  // rank 1: | fwd 4  |   waits   |  ...  |   waits   | bwd 8  |
  const Cost apart =
      Ledger(problem, {{.places = {0}}, {.places = {1}}}).Evaluate();
  EXPECT_DOUBLE_EQ(apart.us, 1000 + 10 + 1 + 1 + 20);
  EXPECT_EQ(apart.over_bytes, 0);
  // Both on one rank: sums of both, two columns, and 20 bytes too much.
  const Cost together =
      Ledger(problem, {{.places = {0}}, {.places = {0}}}).Evaluate();
  EXPECT_DOUBLE_EQ(together.us, 1000 + 14 + 2 + 2 + 28);
  EXPECT_DOUBLE_EQ(together.over_bytes, 20);
  EXPECT_TRUE(IsBetter(apart, together));
}

TEST(Ledger, LooksUpPartsAndCopiesWhileVectorsAreOnTheirWay) {
  const Problem problem = TwoTables();
  // forward   | own 10 | part 2 |        vectors 1 under part 2, then sums of
  //                    |-1-|    |-- 2 -|  2 bytes over 2 ranks
  // backward  gather 1, vectors 1, then part 4 and own 20
  const Cost split =
      Ledger(problem, {{.places = {0}}, {.option = 1}}).Evaluate();
  EXPECT_DOUBLE_EQ(split.us, 1000 + (10 + 2 + 2) + (1 + 1 + 4 + 20));
  // A copy is looked up in the time of the vectors (1 each), its backward (2)
  // covers theirs (1); then its gradient of 4 bytes is summed.
  const Cost copied =
      Ledger(problem, {{.places = {0}}, {.option = 2}}).Evaluate();
  EXPECT_DOUBLE_EQ(copied.us, 1000 + (10 + 1) + (2 + 4 + 20));
}

TEST(Ledger, IsNoFasterThanTheHostInEachPart) {
  Problem problem = TwoTables();
  problem.host.base = {.before_us = 15, .middle_us = 900, .after_us = 25};
  problem.host.makers = {.each = {.middle_us = 110}};
  problem.host.split = {.first = {.before_us = 8}, .each = {.after_us = 12}};
  // Device: 10 + 1, 1000, 1 + 20. Host: 15, 900 + 110 for the second rank that
  // makes vectors, 25.
  const Cost apart =
      Ledger(problem, {{.places = {0}}, {.places = {1}}}).Evaluate();
  EXPECT_DOUBLE_EQ(apart.us, 15 + 1010 + 25);
  // Device: 10 + 2 + 2, 1000, 2 + 4 + 20. Host: 15 + 8, 900, 25 + 12.
  const Cost split =
      Ledger(problem, {{.places = {0}}, {.option = 1}}).Evaluate();
  EXPECT_DOUBLE_EQ(split.us, 23 + 1000 + 37);
  EXPECT_DOUBLE_EQ(split.host_us, 23 + 900 + 37);
}

TEST(Ledger, SendsIdsWhileTheTopMlpRuns) {
  Problem problem = TwoTables();
  problem.tables[0].options[0].load.ids = 100;
  problem.other_us = 24 + 4 + 400;  // Sizes, lengths of a table, ids.
  const Choices apart = {{.places = {0}}, {.places = {1}}};
  const double hidden = Ledger(problem, apart).Evaluate().us;
  EXPECT_DOUBLE_EQ(hidden, 10 + 1 + 428 + 1 + 20);
  problem.other_us = 420;
  EXPECT_DOUBLE_EQ(Ledger(problem, apart).Evaluate().us, hidden);
  problem.other_us = 500;
  EXPECT_DOUBLE_EQ(Ledger(problem, apart).Evaluate().us, hidden + 72);
}

TEST(Ledger, BoundsPlansThatAreNotComplete) {
  const Problem problem = TwoTables();
  Ledger ledger(problem);
  ledger.Add(1, {.places = {0}});
  EXPECT_DOUBLE_EQ(ledger.Evaluate().us, 1000 + 4 + 1 + 1 + 8);
  // 20 and 40 to come: 12 and 24 a rank if spread evenly.
  ledger.SetRest({.forward_us = 20, .backward_us = 40});
  EXPECT_DOUBLE_EQ(ledger.Evaluate().us, 1000 + 12 + 1 + 1 + 24);
}

TEST(CostCurve, RunsThroughItsPointsAndContinuesAfterThem) {
  const CostCurve curve(1024, [](double bytes) { return 5 + bytes / 8; });
  EXPECT_EQ(curve.Us(0), 0);
  EXPECT_NEAR(curve.Us(100), 17.5, 1e-9);
  EXPECT_NEAR(curve.Us(4096), 517, 1e-6);
}

}  // namespace
}  // namespace stepcast::plan
