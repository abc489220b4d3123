#include "hw/node.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/cluster.h"
#include "hw/cpu_device.h"
#include "hw/links.h"

namespace stepcast::hw {
namespace {

using ::testing::HasSubstr;

std::string With(const std::string& more) {
  return "name = \"box\"\ntitle = \"A box\"\ngpu = \"l4\"\n"
         "gpus_per_node = { value = 2, source = \"test\" }\n" +
         more;
}

std::string ErrorOf(const std::string& text) {
  const auto platform = ParsePlatform(text, "box.toml");
  return platform.has_value() ? "" : platform.error().message;
}

TEST(ParsePlatform, ReadsFiguresWithTheirSource) {
  const auto platform = ParsePlatform(
      With("layout = \"pcie\"\npcie_gbs = { value = 31.5, source = \"x\" }\n"),
      "box.toml");
  ASSERT_TRUE(platform.has_value()) << platform.error().message;
  EXPECT_EQ(platform->layout, LinkLayout::kPcie);
  EXPECT_EQ(platform->figures.at("pcie_gbs").value, 31.5);
  EXPECT_EQ(platform->figures.at("pcie_gbs").source, "x");
  EXPECT_FALSE(platform->figures.contains("nic_gbs"));
}

TEST(ParsePlatform, NamesTheLineOfAnUnknownKey) {
  EXPECT_THAT(ErrorOf(With("layout = \"pcie\"\npcie_gb = 3\n")),
              HasSubstr("box.toml:6"));
}

TEST(ParsePlatform, RefusesWhatMakesNoSense) {
  EXPECT_THAT(ErrorOf(With("layout = \"ring\"\n")),
              HasSubstr("expected one of: switch, mesh, pairs, pcie, host"));
  EXPECT_THAT(
      ErrorOf(With("layout = \"pcie\"\n"
                   "nic_gbs = { value = 100000, source = \"Gb/s\" }\n")),
      HasSubstr("nic_gbs is 100000"));
  EXPECT_THAT(ErrorOf(With("layout = \"pcie\"\n"
                           "nics = { value = 1, source = \"x\" }\n")),
              HasSubstr("go together"));
}

TEST(ParsePlatform, ChecksTheMesh) {
  const std::string start =
      "layout = \"mesh\"\nmesh_link_gbs = { value = 25, source = \"x\" }\n";
  EXPECT_EQ(ErrorOf(With(start + "mesh_links = [[0, 2], [2, 0]]\n")), "");
  EXPECT_THAT(ErrorOf(With(start + "mesh_links = [[0, 2], [1, 0]]\n")),
              HasSubstr("GPUs 0 and 1 have 2 links one way and 1"));
  EXPECT_THAT(ErrorOf(With(start + "mesh_links = [[0, 2]]\n")),
              HasSubstr("has 1 rows"));
  EXPECT_THAT(ErrorOf(With(start)), HasSubstr("a mesh, and nothing else"));
}

TEST(LoadPlatforms, EveryFileIsSane) {
  const auto platforms = LoadPlatforms();
  ASSERT_TRUE(platforms.has_value()) << platforms.error().message;
  EXPECT_GE(platforms->size(), 20u);
  for (const Node& platform : *platforms) {
    SCOPED_TRACE(platform.name);
    const auto cluster = FindCluster(platform.name, 0, 1);
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    EXPECT_GT(cluster->gpu_count(), 1);
    const Node& node = cluster->node;
    const LinkRates links = LinksOf(node, node.domain_devices);
    // Direct links are faster than PCIe, and no peer gets more than all do.
    EXPECT_GE(links.ring_gbs, links.direct ? node.pcie_gbs : 1.0);
    EXPECT_LE(links.peer_gbs, links.ring_gbs);
    // What the links of a GPU carry, its data sheet knows, too; half a mesh
    // leaves some unused.
    if (cluster->device.nvlink_gbs > 0 && node.link_gbs > 0) {
      EXPECT_LE(node.link_gbs, 1.01 * cluster->device.nvlink_gbs / 2);
      EXPECT_GE(node.link_gbs, 0.6 * cluster->device.nvlink_gbs / 2);
    }
    EXPECT_GE(node.memory_gbs, 100);
    EXPECT_GE(node.memory_gb, 128);
    if (node.nics > 0) {
      EXPECT_TRUE(FindCluster(platform.name, 0, 2).has_value());
      EXPECT_LE(NicGbsPerGpu(node, node.devices), node.pcie_gbs * 1.6);
    }
  }
}

TEST(FindPlatform, ListsTheKnownNames) {
  const auto platform = FindPlatform("dgx");
  ASSERT_FALSE(platform.has_value());
  EXPECT_THAT(platform.error().message, HasSubstr("hgx-h100"));
}

TEST(FindPlatform, FiguresAfterTheNameReplaceItsOwn) {
  const auto platform = FindPlatform("zion@host_memory_gbs=500,nic_gbs=6");
  ASSERT_TRUE(platform.has_value()) << platform.error().message;
  EXPECT_EQ(platform->memory_gbs, 500);
  EXPECT_EQ(platform->nic_gbs, 6);
  EXPECT_EQ(platform->nics, FindPlatform("zion")->nics);
  for (const char* text :
       {"zion@", "zion@nic_gbs", "zion@nic_gbs=x", "zion@nic_gbs=-1",
        "zion@nik_gbs=1", "zion@nic_gbs=1,"}) {
    EXPECT_FALSE(FindPlatform(text).has_value()) << text;
  }
}

TEST(FindPlatform, FiguresAfterTheNameMayHaveUnits) {
  const auto platform = FindPlatform("hgx-h100@nic_gbs=400Gb/s");
  ASSERT_TRUE(platform.has_value()) << platform.error().message;
  EXPECT_DOUBLE_EQ(platform->nic_gbs, 50);
  const auto wrong = FindPlatform("hgx-h100@nic_gbs=400us");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message,
            "nic_gbs is '400us'; expected 0.1 to 2000 GB/s");
}

TEST(LoadServers, EveryFileIsSane) {
  const auto servers = LoadServers();
  ASSERT_TRUE(servers.has_value()) << servers.error().message;
  EXPECT_GE(servers->size(), 10u);
  for (const Node& host : *servers) {
    SCOPED_TRACE(host.name);
    const Device device = MakeCpuDevice(host, WholeNode(host));
    EXPECT_EQ(device.generation, Generation::kCpu);
    // From 4 cores of a cloud to two sockets of 128.
    EXPECT_GT(device.fp32_tflops, 0.2);
    EXPECT_LT(device.fp32_tflops, 100);
    EXPECT_GE(device.bf16_tflops, device.fp32_tflops);
    EXPECT_GE(host.turbo_ghz, host.vector_ghz);
    EXPECT_GE(host.power_w, 1.0 * host.cores());
    EXPECT_EQ(host.socket_link_gbs > 0, host.sockets > 1);
    EXPECT_TRUE(MakeCluster(host, device, 2, 2).has_value());
  }
}

TEST(FindServer, ListsTheKnownNames) {
  const auto server = FindServer("epyc");
  ASSERT_FALSE(server.has_value());
  EXPECT_THAT(server.error().message, HasSubstr("2s-epyc-7742"));
  const auto typo = FindServer("2s-epyc-7743");
  ASSERT_FALSE(typo.has_value());
  EXPECT_THAT(typo.error().message, HasSubstr("did you mean"));
}

TEST(ParseServer, SaysWhereAFileIsWrong) {
  const auto error = [](const char* text) {
    const auto server = ParseServer(text, "mine.toml");
    return server ? std::string() : server.error().message;
  };
  EXPECT_THAT(error("name = \"a\"\ntitle = \"A\"\ncores = 3\n"),
              HasSubstr("mine.toml:3: "));
  EXPECT_THAT(error("name = \"a\"\ntitle = \"A\"\n"),
              HasSubstr("no 'sockets'; expected"));
  EXPECT_THAT(error("name = \"a\"\ntitle = \"A\"\n"
                    "base_ghz = { value = 2000, source = \"me\" }\n"),
              HasSubstr("base_ghz is 2000; expected 0.5 to 10 GHz"));
}

}  // namespace
}  // namespace stepcast::hw
