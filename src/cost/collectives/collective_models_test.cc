#include "cost/collectives/collective_models.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "hw/cluster.h"
#include "hw/links.h"

namespace stepcast::cost {
namespace {

using ir::CollectiveKind;

CollectiveModels Load(const std::string& platform, int gpus, int nodes) {
  const auto cluster = hw::FindCluster(platform, gpus, nodes);
  EXPECT_TRUE(cluster.has_value()) << cluster.error().message;
  auto models = CollectiveModels::Load(*cluster, CollectiveStore());
  EXPECT_TRUE(models.has_value()) << models.error().message;
  return *std::move(models);
}

constexpr CollectiveKind kCollectiveKinds[] = {
    CollectiveKind::kAllReduce, CollectiveKind::kAllToAll,
    CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
    CollectiveKind::kBroadcast, CollectiveKind::kReduce,
    CollectiveKind::kSendRecv};

// More bytes never take less, a little more takes a little longer, and nothing
// beats the links: for every platform, kind and group.
void CheckLaws(const CollectiveModels& models, RankGroup group) {
  for (const CollectiveKind kind : kCollectiveKinds) {
    double before = 0;
    for (int eighth = 32; eighth < 272; ++eighth) {
      const double octave = eighth / 8.0;
      const auto load = EvenLoad(kind, group, std::exp2(octave));
      const Estimate estimate = models.Price(load);
      ASSERT_GE(estimate.p50_us, before)
          << static_cast<int>(kind) << " at 2^" << octave;
      ASSERT_GE(estimate.p50_us, estimate.base.roofline_us);
      ASSERT_LE(estimate.p10_us, estimate.p50_us);
      ASSERT_GE(estimate.p90_us, estimate.p50_us);
      // An eighth of an octave is 9 % more bytes; protocols that change may
      // double the time within an octave.
      ASSERT_LE(estimate.p50_us, 1.3 * before + (before == 0 ? 1e9 : 0))
          << static_cast<int>(kind) << " at 2^" << octave;
      before = estimate.p50_us;
    }
  }
}

TEST(CollectiveModels, LawsHoldOnEveryPlatform) {
  const auto platforms = hw::LoadPlatforms();
  ASSERT_TRUE(platforms.has_value());
  for (const hw::Node& platform : *platforms) {
    SCOPED_TRACE(platform.name);
    const CollectiveModels models = Load(platform.name, 0, 1);
    const int gpus = models.cluster().gpus_per_node;
    for (const int ranks : {2, 3, 4, 5, 8, 16, 72}) {
      if (ranks <= gpus) {
        CheckLaws(models, {.ranks = ranks});
      }
    }
    if (models.cluster().node.nics > 0) {
      for (const int nodes : {2, 3, 16, 128}) {
        CheckLaws(Load(platform.name, gpus * nodes, nodes),
                  {.ranks = gpus * nodes, .nodes = nodes});
      }
    }
  }
}

// Each kind with as many bytes over `two`, in the group `in_two`, as over
// `one`.
void CheckNeverCheaper(const CollectiveModels& two, const RankGroup& in_two,
                       const CollectiveModels& one, const RankGroup& in_one,
                       bool peers_direct) {
  for (const CollectiveKind kind : kCollectiveKinds) {
    // What goes over PCIe may be faster over the network; a message between two
    // ranks has no span.
    const bool over_links =
        (peers_direct || kind != CollectiveKind::kAllToAll) &&
        kind != CollectiveKind::kSendRecv;
    for (int octave = 4; over_links && octave < 34; ++octave) {
      const double bytes = std::exp2(octave);
      EXPECT_GE(two.Price(EvenLoad(kind, in_two, bytes)).p50_us,
                one.Price(EvenLoad(kind, in_one, bytes)).p50_us)
          << in_two.ranks << " ranks, kind " << static_cast<int>(kind)
          << " at 2^" << octave;
    }
  }
}

// What two domains do over the network never takes less than the same bytes
// among as many of the ranks as one domain holds.
TEST(CollectiveModels, ALargerSpanOverTheNetworkIsNeverCheaperThanOneDomain) {
  const auto platforms = hw::LoadPlatforms();
  ASSERT_TRUE(platforms.has_value());
  for (const hw::Node& platform : *platforms) {
    const int domain = platform.domain_devices;
    const hw::LinkRates links = hw::LinksOf(platform, domain);
    if (platform.nics == 0 || !links.direct) {
      continue;
    }
    SCOPED_TRACE(platform.name);
    const int nodes = platform.domain_nodes();
    for (const int ranks : {domain, 2 * domain}) {
      if (ranks % (2 * nodes) == 0) {
        CheckNeverCheaper(Load(platform.name, ranks, 2 * nodes),
                          {.ranks = ranks, .nodes = 2 * nodes},
                          Load(platform.name, domain, nodes),
                          {.ranks = domain, .nodes = nodes},
                          links.peers_direct);
      }
    }
  }
}

// A curve of 10 us at 1 kB, 30 us at 2 kB, among four ranks.
CollectiveModels Known() {
  const auto cluster = hw::FindCluster("dgx-a100", 8, 1);
  CollectiveCurve curve{.kind = CollectiveKind::kAllReduce,
                        .group = {.ranks = 4},
                        .from_log2 = 10,
                        .us = {10, 30},
                        .log2_p10 = -1,
                        .log2_p90 = 1};
  CollectiveCurve wider = curve;
  wider.group.ranks = 8;
  wider.us = {20, 60};
  return {*cluster, CollectiveConstants{}, {curve, wider}};
}

TEST(CollectiveModels, AnswersFromTheCurveOfTheGroup) {
  const Estimate estimate =
      Known().Price(EvenLoad(CollectiveKind::kAllReduce, {.ranks = 4}, 1024));
  EXPECT_DOUBLE_EQ(estimate.p50_us, 10);
  EXPECT_DOUBLE_EQ(estimate.p10_us, 5);
  EXPECT_DOUBLE_EQ(estimate.p90_us, 20);
  EXPECT_EQ(estimate.origin, Origin::kFitted);
}

TEST(CollectiveModels, LiesBetweenTheGroupsAroundIt) {
  const Estimate estimate =
      Known().Price(EvenLoad(CollectiveKind::kAllReduce, {.ranks = 6}, 1024));
  // log2(6/4) / log2(8/4) = 0.585: 10 x 2^0.585 = 15.
  EXPECT_NEAR(estimate.p50_us, 15, 1e-9);
}

TEST(CollectiveModels, SaysWhenItGoesBeyondItsData) {
  const CollectiveModels models = Known();
  const auto origin = [&](CollectiveKind kind, double bytes, int ranks) {
    return models.Price(EvenLoad(kind, {.ranks = ranks}, bytes)).origin;
  };
  EXPECT_EQ(origin(CollectiveKind::kAllReduce, 1e6, 4), Origin::kExtrapolated);
  EXPECT_EQ(origin(CollectiveKind::kAllReduce, 1024, 2), Origin::kExtrapolated);
  EXPECT_EQ(origin(CollectiveKind::kAllToAll, 1024, 4), Origin::kExtrapolated);
}

TEST(CollectiveModels, SharingALinkTakesTurns) {
  const CollectiveModels models = Load("dgx-2", 16, 1);
  const auto load = EvenLoad(CollectiveKind::kAllGather, {.ranks = 16}, 1e9);
  const double alone = models.SharedUs(load, 0);
  EXPECT_DOUBLE_EQ(alone, models.Price(load).p50_us);
  EXPECT_NEAR(models.SharedUs(load, 1) / alone, 2, 0.15);
}

TEST(CollectiveModels, EveryNamedSystemHasCurves) {
  const auto platforms = hw::LoadPlatforms();
  ASSERT_TRUE(platforms.has_value());
  for (const hw::Node& platform : *platforms) {
    for (const std::string& system : platform.collectives) {
      const auto profile = CollectiveStore().Find(system);
      ASSERT_TRUE(profile.has_value()) << profile.error().message;
      EXPECT_NE(*profile, nullptr) << platform.name << ": " << system;
    }
  }
}

// What nodes of one NVLink domain exchange does not see the network.
TEST(CollectiveModels, ADomainOfNodesIsAsOneNode) {
  const CollectiveModels domain = Load("gb200-nvl72", 64, 16);
  const CollectiveModels slow = Load("gb200-nvl72@nic_gbs=1", 64, 16);
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll,
        CollectiveKind::kAllGather}) {
    const RankGroup trays{.ranks = 64, .nodes = 16};
    const RankGroup node{.ranks = 64, .nodes = 1};
    const double us = domain.Price(EvenLoad(kind, trays, 1e7)).p50_us;
    EXPECT_EQ(us, domain.Price(EvenLoad(kind, node, 1e7)).p50_us);
    EXPECT_EQ(us, slow.Price(EvenLoad(kind, trays, 1e7)).p50_us);
  }
  // What leaves a domain does.
  const RankGroup two{.ranks = 144, .nodes = 36};
  const CollectiveLoad load = EvenLoad(CollectiveKind::kAllToAll, two, 1e7);
  EXPECT_GT(Load("gb200-nvl72@nic_gbs=1", 144, 36).Price(load).p50_us,
            10 * Load("gb200-nvl72", 144, 36).Price(load).p50_us);
}

// Through its own node a rank sends 13 messages to other nodes instead of 104.
// A large exchange takes as long as its adapter needs, plus the way through the
// node.
TEST(CollectiveModels, StagesSpareMessagesButNotBytes) {
  const CollectiveModels models = Load("dgx-a100", 112, 14);
  const RankGroup group{.ranks = 112, .nodes = 14};
  const auto us = [&](double bytes, bool hierarchical) {
    CollectiveLoad load = EvenLoad(CollectiveKind::kAllToAll, group, bytes);
    load.hierarchical = hierarchical;
    return models.Price(load).p50_us;
  };
  EXPECT_LT(us(1e5, true), 0.5 * us(1e5, false));
  EXPECT_GT(us(1e10, true), us(1e10, false));
  EXPECT_LT(us(1e10, true), 1.3 * us(1e10, false));
  double before = 0;
  for (double bytes = 1e3; bytes < 1e10; bytes *= 2) {
    EXPECT_GE(us(bytes, true), before);
    before = us(bytes, true);
  }
}

}  // namespace
}  // namespace stepcast::cost
