#include "cost/collectives/formula.h"

#include <vector>

#include <gtest/gtest.h>

#include "hw/cluster.h"

namespace stepcast::cost {
namespace {

using ir::CollectiveKind;

hw::Cluster Find(const char* name, int gpus, int nodes) {
  auto cluster = hw::FindCluster(name, gpus, nodes);
  EXPECT_TRUE(cluster.has_value()) << cluster.error().message;
  return *std::move(cluster);
}

TEST(Ramp, IsALatencyAndThenARate) {
  const Ramp ramp{.latency_us = 20, .bus_gbs = 100, .blend = 1};
  EXPECT_DOUBLE_EQ(ramp.Us(0), 20);
  EXPECT_DOUBLE_EQ(ramp.Us(1e6), 30);  // 1 MB at 100 GB/s: 10 us.
  EXPECT_NEAR(ramp.BytesFor(30), 1e6, 1e-3);
  EXPECT_DOUBLE_EQ(ramp.BytesFor(10), 0);
}

// A blend of 1/2 is (sqrt(a) + sqrt(b))^2 = a + b + 2 sqrt(ab).
TEST(Ramp, FillingAPipelineCostsTheRootOfBoth) {
  const Ramp ramp{.latency_us = 16, .bus_gbs = 100, .blend = 0.5};
  EXPECT_NEAR(ramp.Us(0.9e6), 16 + 9 + 24, 1e-9);
}

TEST(CollectiveFormula, AddsStepsOfARing) {
  const hw::Cluster cluster = Find("dgx-a100", 8, 1);
  CollectiveConstants constants;
  constants.all_reduce = {.start_us = 5,
                          .step_us = 2,
                          .link_share = 0.8,
                          .pair_factor = 1,
                          .pcie_share = 0.5,
                          .blend = 1};
  const CollectiveFormula formula(cluster, constants);
  const CollectiveLoad load =
      EvenLoad(CollectiveKind::kAllReduce, {.ranks = 8}, 24e6);
  // 5 + 14 x 2 = 33 us, and 24 MB at 0.8 x 300 GB/s: 100 us.
  EXPECT_NEAR(formula.Us(load), 133, 1e-9);
  EXPECT_NEAR(formula.BoundUs(load), 80, 1e-9);
}

TEST(CollectiveFormula, TheSlowestLinkOfAMeshHoldsUpAnExchange) {
  const hw::Cluster cluster = Find("4xv100", 4, 1);
  const CollectiveConstants constants;
  const CollectiveFormula formula(cluster, constants);
  CollectiveLoad load = EvenLoad(CollectiveKind::kAllToAll, {.ranks = 4}, 3e8);
  // 100 MB to each peer, by one link of 25 GB/s: 4 ms.
  EXPECT_NEAR(formula.BoundUs(load), 4000, 1e-6);
  const double even = formula.Us(load);
  load.peer_bytes = 2e8;  // As much in all, but two thirds of it to one.
  EXPECT_NEAR(formula.BoundUs(load), 8000, 1e-6);
  EXPECT_GT(formula.Us(load), 1.9 * even);
}

// 8 ranks on each of 2 nodes: an all-to-all of 15 MB per rank sends 8 MB
// through the rank's own adapter of 50 GB/s; a ring uses all eight.
TEST(CollectiveFormula, TheNetworkCarriesWhatLeavesTheNode) {
  const hw::Cluster cluster = Find("hgx-h100", 16, 2);
  const CollectiveConstants constants;
  const CollectiveFormula formula(cluster, constants);
  const RankGroup group{.ranks = 16, .nodes = 2};
  EXPECT_NEAR(formula.BoundUs(EvenLoad(CollectiveKind::kAllToAll, group, 15e6)),
              160, 1e-9);
  EXPECT_NEAR(
      formula.BoundUs(EvenLoad(CollectiveKind::kAllGather, group, 15e6)), 37.5,
      1e-9);
}

// Switches that add halve what adapters carry; so does the node's own switch.
TEST(CollectiveFormula, SwitchesThatAddHalveTheTraffic) {
  const CollectiveConstants constants;
  const RankGroup group{.ranks = 64, .nodes = 8};
  const auto load = EvenLoad(CollectiveKind::kAllReduce, group, 80e6);
  const hw::Cluster plain = Find("hgx-h100", 64, 8);
  const hw::Cluster adding = Find("superpod-h100", 64, 8);
  const CollectiveFormula rings(plain, constants);
  const CollectiveFormula sums(adding, constants);
  // 80 MB by eight adapters of 50 GB/s: 200 us; half of it.
  EXPECT_NEAR(rings.BoundUs(load), 200, 1e-9);
  EXPECT_NEAR(sums.BoundUs(load), 100, 1e-9);
  EXPECT_LT(sums.Us(load), rings.Us(load));
  // An all-gather has nothing to add.
  const auto gather = EvenLoad(CollectiveKind::kAllGather, group, 80e6);
  EXPECT_NEAR(sums.BoundUs(gather), rings.BoundUs(gather), 1e-9);
}

TEST(CollectiveFormula, OneRankAloneJustStarts) {
  const hw::Cluster cluster = Find("dgx-a100", 8, 1);
  const CollectiveConstants constants;
  const CollectiveFormula formula(cluster, constants);
  const auto load = EvenLoad(CollectiveKind::kAllReduce, {.ranks = 1}, 0);
  EXPECT_DOUBLE_EQ(formula.Us(load), constants.all_reduce.start_us);
}

}  // namespace
}  // namespace stepcast::cost
