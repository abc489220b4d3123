#include "hw/platform_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/gpu_files.h"

namespace stepcast::hw {
namespace {

using ::testing::HasSubstr;

TEST(LoadPlatforms, EveryFileIsSane) {
  const auto platforms = LoadPlatforms();
  ASSERT_TRUE(platforms.has_value()) << platforms.error().message;
  EXPECT_GE(platforms->size(), 20u);
  for (const Platform& platform : *platforms) {
    SCOPED_TRACE(platform.name);
    const auto cluster = FindCluster(platform.name, 0, 1);
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    EXPECT_GT(cluster->gpu_count(), 1);
    const NodeLinks links = LinksOf(*cluster, cluster->gpus_per_node);
    // Direct links are faster than PCIe, and no peer gets more than all do.
    EXPECT_GE(links.ring_gbs, links.direct ? cluster->pcie_gbs : 1.0);
    EXPECT_LE(links.peer_gbs, links.ring_gbs);
    // What the links of a GPU carry, its data sheet knows, too; half a mesh
    // leaves some unused.
    if (cluster->device.nvlink_gbs > 0 && cluster->link_gbs > 0) {
      EXPECT_LE(cluster->link_gbs, 1.01 * cluster->device.nvlink_gbs / 2);
      EXPECT_GE(cluster->link_gbs, 0.6 * cluster->device.nvlink_gbs / 2);
    }
    EXPECT_GE(cluster->host_memory_gbs, 100);
    EXPECT_GE(cluster->host_memory_gb, 128);
    if (cluster->nics > 0) {
      EXPECT_TRUE(FindCluster(platform.name, 0, 2).has_value());
      EXPECT_LE(NicGbsPerGpu(*cluster, cluster->gpus_per_node),
                cluster->pcie_gbs * 1.6);
    }
  }
}

TEST(FindCluster, RefusesGpusThatAreNotThere) {
  EXPECT_FALSE(FindCluster("dgx-a100", 9, 1).has_value());
  EXPECT_FALSE(FindCluster("dgx-a100", 7, 2).has_value());
  const auto apart = FindCluster("pcie-v100", 16, 2);
  ASSERT_FALSE(apart.has_value());
  EXPECT_THAT(apart.error().message, HasSubstr("no known network"));
}

TEST(FindPlatform, ListsTheKnownNames) {
  const auto platform = FindPlatform("dgx");
  ASSERT_FALSE(platform.has_value());
  EXPECT_THAT(platform.error().message, HasSubstr("hgx-h100"));
}

TEST(FindPlatform, FiguresBehindTheNameReplaceItsOwn) {
  const auto platform = FindPlatform("zion@host_memory_gbs=500,nic_gbs=6");
  ASSERT_TRUE(platform.has_value()) << platform.error().message;
  EXPECT_EQ(platform->host_memory_gbs->value, 500);
  EXPECT_EQ(platform->nic_gbs->value, 6);
  EXPECT_EQ(platform->nics->value, FindPlatform("zion")->nics->value);
  for (const char* text :
       {"zion@", "zion@nic_gbs", "zion@nic_gbs=x", "zion@nic_gbs=-1",
        "zion@nik_gbs=1", "zion@nic_gbs=1,"}) {
    EXPECT_FALSE(FindPlatform(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace stepcast::hw
