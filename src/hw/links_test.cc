#include "hw/links.h"

#include <utility>

#include <gtest/gtest.h>

namespace stepcast::hw {
namespace {

Node Find(const char* name) {
  auto node = FindPlatform(name);
  EXPECT_TRUE(node.has_value()) << node.error().message;
  return *std::move(node);
}

// 0 to 1 and 0 to 2 have one link, 0 to 3 has two: the single ones decide.
TEST(LinksOf, AQuadOfACubeMeshIsAsFastAsItsSingleLinks) {
  const LinkRates links = LinksOf(Find("4xv100"), 4);
  EXPECT_TRUE(links.direct);
  EXPECT_EQ(links.peer_gbs, 25);
  EXPECT_EQ(links.ring_gbs, 100);  // GPUs 0 and 1 have four links.
}

// Three of seven peers have no link and are reached through a fourth: at
// least (4 + 2 x 3) / 6 = 1.67 loads a link, and whole ones where it is single.
TEST(LinksOf, RelaysFillTheLinksOfACube) {
  const LinkRates links = LinksOf(Find("dgx-1-v100"), 8);
  EXPECT_EQ(links.ring_gbs, 150);
  EXPECT_LE(links.peer_gbs, 25 / 1.67);
  EXPECT_GE(links.peer_gbs, 25 / 3.0);
}

// Without relays three of seven peers are reached through the host, by uplinks
// that two GPUs share.
TEST(LinksOf, WithoutRelaysSomePeersAreReachedThroughTheHost) {
  const LinkRates links = LinksOf(Find("dgx-1-v100-nccl-2.7"), 8);
  EXPECT_TRUE(links.direct);
  EXPECT_FALSE(links.peers_direct);
  EXPECT_EQ(links.ring_gbs, 150);
  EXPECT_NEAR(links.peer_gbs, 15.75 / 6, 1e-9);
  // Four of them have links to each other.
  EXPECT_TRUE(LinksOf(Find("dgx-1-v100-nccl-2.7"), 4).peers_direct);
}

TEST(LinksOf, ASwitchGivesEveryPeerItsShare) {
  const LinkRates links = LinksOf(Find("dgx-a100"), 8);
  EXPECT_EQ(links.ring_gbs, 300);
  EXPECT_NEAR(links.peer_gbs, 300.0 / 7, 1e-9);
}

TEST(LinksOf, BridgesServePairsAndPcieTheRest) {
  const Node node = Find("pcie-a100");
  EXPECT_TRUE(LinksOf(node, 2).direct);
  EXPECT_FALSE(LinksOf(node, 4).direct);
  EXPECT_EQ(LinksOf(node, 4).ring_gbs, 31.5);
}

// Four GPUs behind an uplink send to four others: 16 flows of 15.75 GB/s.
TEST(LinksOf, GpusBehindAnUplinkShareIt) {
  const LinkRates links = LinksOf(Find("pcie-v100"), 8);
  EXPECT_NEAR(links.peer_gbs, 15.75 / 16, 1e-9);
}

TEST(LinksOf, WithoutDirectLinksEverythingCrossesPcieTwice) {
  EXPECT_NEAR(LinksOf(Find("zion"), 8).ring_gbs, 15.75 / 2, 1e-9);
}

TEST(NicGbsPerGpu, FollowsTheRails) {
  // Eight adapters for eight GPUs: each its own, however many send.
  EXPECT_EQ(NicGbsPerGpu(Find("hgx-h100"), 8), 50);
  EXPECT_EQ(NicGbsPerGpu(Find("hgx-h100"), 1), 50);
  // Four for eight: neighbours share.
  EXPECT_EQ(NicGbsPerGpu(Find("dgx-1-v100"), 8), 6.25);
  EXPECT_EQ(NicGbsPerGpu(Find("dgx-1-v100"), 1), 12.5);
  // One for all.
  EXPECT_NEAR(NicGbsPerGpu(Find("big-basin"), 8), 12.5 / 8, 1e-9);
}

TEST(SharedGbs, GivesEveryUserTheSame) {
  EXPECT_EQ(SharedGbs(24, 1, 100), 24);
  EXPECT_EQ(SharedGbs(24, 3, 100), 8);
  EXPECT_EQ(SharedGbs(24, 3, 5), 5);
}

}  // namespace
}  // namespace stepcast::hw
