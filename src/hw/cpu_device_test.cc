#include "hw/cpu_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/cluster.h"

namespace stepcast::hw {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kServer = R"(
name = "mine"
title = "Mine"
sockets = { value = 2, source = "me" }
cores_per_socket = { value = 10, source = "me" }
base_ghz = { value = 2, source = "me" }
turbo_ghz = { value = 4, source = "me" }
fp32_flops_per_clock = { value = 32, source = "me" }
cache_mb = { value = 20, source = "me" }
memory_gb = { value = 128, source = "me" }
memory_gbs = { value = 100, source = "me" }
tdp_w = { value = 100, source = "me" }
)";

Node Mine() {
  const auto server = ParseServer(kServer, "mine.toml");
  EXPECT_TRUE(server) << server.error().message;
  return MakeNode(*server, nullptr);
}

TEST(CpuDevice, FillsWhatNobodyPublishedAndSaysSo) {
  const Node host = Mine();
  EXPECT_DOUBLE_EQ(host.vector_ghz, 2);
  EXPECT_DOUBLE_EQ(host.bf16_flops_per_clock, 32);
  EXPECT_DOUBLE_EQ(host.power_w, 300);  // 1.5 x 2 x 100 W.
  EXPECT_FALSE(host.price_usd.has_value());
  EXPECT_THAT(host.derived, Contains("vector_ghz: the base clock"));
  EXPECT_THAT(host.derived, Contains(HasSubstr("power_w: ")));
}

TEST(CpuDevice, ACoreAloneRunsFasterAndReachesLessMemory) {
  const Node host = Mine();
  const Device all = MakeCpuDevice(host, WholeNode(host));
  const Device one = MakeCpuDevice(
      host, {.cores = 1, .busy_cores = 1, .memory_share = 1, .cache_mb = 40});
  // 20 cores x 2 GHz x 32 FLOP = 1.28 TFLOP/s; one at 4 GHz 0.128.
  EXPECT_NEAR(all.fp32_tflops, 1.28, 1e-9);
  EXPECT_NEAR(one.fp32_tflops, 0.128, 1e-9);
  EXPECT_DOUBLE_EQ(all.dram_gbs, 100);
  EXPECT_LT(one.dram_gbs, 15);
  EXPECT_GT(all.team_us, 0);
  EXPECT_EQ(one.team_us, 0);
}

TEST(CpuDevice, SocketsShareAServer) {
  const Node host = Mine();
  const Device all = MakeCpuDevice(host, WholeNode(host));
  const Device socket = MakeCpuDevice(host, OneSocket(host));
  EXPECT_NEAR(2 * socket.fp32_tflops, all.fp32_tflops, 1e-9);
  EXPECT_NEAR(2 * socket.dram_gbs, all.dram_gbs, 1e-9);
  EXPECT_NEAR(2 * socket.dram_gb, all.dram_gb, 1e-9);
  const auto cluster = MakeCluster(host, socket, 8, 4);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->gpu_count(), 8);
  EXPECT_DOUBLE_EQ(cluster->power_w, 4 * 300);
}

TEST(CpuDevice, MoreThreadsThanCoresShareThem) {
  const Node host = Mine();
  EXPECT_DOUBLE_EQ(OneOf(host, 10).cores, 1);
  EXPECT_DOUBLE_EQ(OneOf(host, 40).cores, 0.5);
  EXPECT_DOUBLE_EQ(OneOf(host, 40).memory_share, 1.0 / 40);
}

}  // namespace
}  // namespace stepcast::hw
