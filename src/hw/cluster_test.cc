#include "hw/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/links.h"

namespace stepcast::hw {
namespace {

using ::testing::HasSubstr;

TEST(FindCluster, RefusesGpusThatAreNotThere) {
  EXPECT_FALSE(FindCluster("dgx-a100", 9, 1).has_value());
  EXPECT_FALSE(FindCluster("dgx-a100", 7, 2).has_value());
  const auto apart = FindCluster("pcie-v100", 16, 2);
  ASSERT_FALSE(apart.has_value());
  EXPECT_THAT(apart.error().message, HasSubstr("no known network"));
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
  EXPECT_EQ(NicGbsPerGpu(two->node, 72), 50);
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
