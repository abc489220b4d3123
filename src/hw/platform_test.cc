#include "hw/platform.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(platform->pcie_gbs->value, 31.5);
  EXPECT_EQ(platform->pcie_gbs->source, "x");
  EXPECT_FALSE(platform->nic_gbs.has_value());
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

}  // namespace
}  // namespace stepcast::hw
