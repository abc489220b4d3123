#include "hw/cluster.h"

#include <gtest/gtest.h>

#include "hw/platform_files.h"

namespace stepcast::hw {
namespace {

Cluster Find(const char* name, int gpus, int nodes) {
  auto cluster = FindCluster(name, gpus, nodes);
  EXPECT_TRUE(cluster.has_value()) << cluster.error().message;
  return *std::move(cluster);
}

// 0 to 1 and 0 to 2 have one link, 0 to 3 has two: the single ones decide.
TEST(LinksOf, AQuadOfACubeMeshIsAsFastAsItsSingleLinks) {
  const NodeLinks links = LinksOf(Find("4xv100", 4, 1), 4);
  EXPECT_TRUE(links.direct);
  EXPECT_EQ(links.peer_gbs, 25);
  EXPECT_EQ(links.ring_gbs, 100);  // GPUs 0 and 1 have four links.
}

// Three of seven peers have no link and are reached by way of a fourth: at
// least (4 + 2 x 3) / 6 = 1.67 loads a link, and whole ones where it is single.
TEST(LinksOf, RelaysFillTheLinksOfACube) {
  const NodeLinks links = LinksOf(Find("dgx-1-v100", 8, 1), 8);
  EXPECT_EQ(links.ring_gbs, 150);
  EXPECT_LE(links.peer_gbs, 25 / 1.67);
  EXPECT_GE(links.peer_gbs, 25 / 3.0);
}

// Without relays three of seven peers are reached through the host, by uplinks
// that two GPUs share.
TEST(LinksOf, WithoutRelaysSomePeersAreBehindTheHost) {
  const NodeLinks links = LinksOf(Find("dgx-1-v100-nccl-2.7", 8, 1), 8);
  EXPECT_TRUE(links.direct);
  EXPECT_FALSE(links.peers_direct);
  EXPECT_EQ(links.ring_gbs, 150);
  EXPECT_NEAR(links.peer_gbs, 15.75 / 6, 1e-9);
  // Four of them have links to each other.
  EXPECT_TRUE(LinksOf(Find("dgx-1-v100-nccl-2.7", 4, 1), 4).peers_direct);
}

TEST(LinksOf, ASwitchGivesEveryPeerItsShare) {
  const NodeLinks links = LinksOf(Find("dgx-a100", 8, 1), 8);
  EXPECT_EQ(links.ring_gbs, 300);
  EXPECT_NEAR(links.peer_gbs, 300.0 / 7, 1e-9);
}

TEST(LinksOf, BridgesServePairsAndPcieTheRest) {
  const Cluster cluster = Find("pcie-a100", 4, 1);
  EXPECT_TRUE(LinksOf(cluster, 2).direct);
  EXPECT_FALSE(LinksOf(cluster, 4).direct);
  EXPECT_EQ(LinksOf(cluster, 4).ring_gbs, 31.5);
}

// Four GPUs behind an uplink send to four others: 16 flows of 15.75 GB/s.
TEST(LinksOf, GpusBehindAnUplinkShareIt) {
  const NodeLinks links = LinksOf(Find("pcie-v100", 8, 1), 8);
  EXPECT_NEAR(links.peer_gbs, 15.75 / 16, 1e-9);
}

TEST(LinksOf, WithoutDirectLinksEverythingCrossesPcieTwice) {
  EXPECT_NEAR(LinksOf(Find("zion", 8, 1), 8).ring_gbs, 15.75 / 2, 1e-9);
}

TEST(NicGbsPerGpu, FollowsTheRails) {
  // Eight adapters for eight GPUs: each its own, however many send.
  EXPECT_EQ(NicGbsPerGpu(Find("hgx-h100", 16, 2), 8), 50);
  EXPECT_EQ(NicGbsPerGpu(Find("hgx-h100", 2, 2), 1), 50);
  // Four for eight: neighbours share.
  EXPECT_EQ(NicGbsPerGpu(Find("dgx-1-v100", 16, 2), 8), 6.25);
  EXPECT_EQ(NicGbsPerGpu(Find("dgx-1-v100", 2, 2), 1), 12.5);
  // One for all.
  EXPECT_NEAR(NicGbsPerGpu(Find("big-basin", 16, 2), 8), 12.5 / 8, 1e-9);
}

TEST(SharedGbs, GivesEveryUserTheSame) {
  EXPECT_EQ(SharedGbs(24, 1, 100), 24);
  EXPECT_EQ(SharedGbs(24, 3, 100), 8);
  EXPECT_EQ(SharedGbs(24, 3, 5), 5);
}

// Trays of four, of which eighteen are one domain.
TEST(Cluster, LinksMayJoinNodes) {
  const auto part = FindCluster("gb200-nvl72", 64, 1);
  ASSERT_TRUE(part.has_value()) << part.error().message;
  EXPECT_EQ(part->nodes, 16);
  EXPECT_EQ(part->domains(), 1);
  EXPECT_NEAR(part->power_w, 120000 * 64 / 72.0, 10);
  const auto two = FindCluster("gb200-nvl72", 144, 36);
  ASSERT_TRUE(two.has_value()) << two.error().message;
  EXPECT_EQ(two->domains(), 2);
  EXPECT_EQ(two->domain_nodes, 18);
  // A quarter of the adapters of a tray, however many GPUs a domain has.
  EXPECT_EQ(NicGbsPerGpu(*two, 72), 50);
  EXPECT_FALSE(FindCluster("gb200-nvl72", 76, 19).has_value());
  EXPECT_EQ(FindCluster("gb200-nvl72", 0, 1)->gpu_count(), 72);
}

TEST(Cluster, AJobIsCountedWhatItUsesOfANode) {
  const auto whole = FindCluster("dgx-a100", 8, 1);
  const auto half = FindCluster("dgx-a100", 4, 1);
  EXPECT_NEAR(half->power_w, whole->power_w / 2, 1e-6);
}

}  // namespace
}  // namespace stepcast::hw
