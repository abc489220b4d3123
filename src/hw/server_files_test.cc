#include "hw/server_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::hw {
namespace {

using ::testing::HasSubstr;

TEST(LoadServers, EveryFileIsSane) {
  const auto servers = LoadServers();
  ASSERT_TRUE(servers.has_value()) << servers.error().message;
  EXPECT_GE(servers->size(), 10u);
  for (const Server& server : *servers) {
    SCOPED_TRACE(server.name);
    const Host host = MakeHost(server);
    const Device device = MakeHostDevice(host, WholeHost(host));
    EXPECT_EQ(device.generation, Generation::kCpu);
    // From 4 cores of a cloud to two sockets of 128.
    EXPECT_GT(device.fp32_tflops, 0.2);
    EXPECT_LT(device.fp32_tflops, 100);
    EXPECT_GE(device.bf16_tflops, device.fp32_tflops);
    EXPECT_GE(host.turbo_ghz, host.vector_ghz);
    EXPECT_GE(host.power_w, 1.0 * host.cores());
    EXPECT_EQ(host.socket_link_gbs > 0, host.sockets > 1);
    EXPECT_TRUE(MakeHostCluster(host, 2).has_value());
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
