#include "hw/gpu_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/device.h"

namespace stepcast::hw {
namespace {

using testing::Optional;

std::vector<std::string> Known() {
  return GpuNames();
}

TEST(SameGpuTest, SpellingsOfSockets) {
  EXPECT_THAT(SameGpu("v100-sxm2-16gb", Known()),
              Optional(std::string("v100-sxm-16gb")));
  EXPECT_THAT(SameGpu("A100_SXM4_80GB", Known()),
              Optional(std::string("a100-sxm-80gb")));
  EXPECT_THAT(SameGpu("V100-SXM3-32GB", Known()),
              Optional(std::string("v100-sxm3-32gb")));
  EXPECT_EQ(SameGpu("v100", Known()), std::nullopt);
}

TEST(NearestGpuTest, NamesThatDriversRecord) {
  const auto nearest = [](std::string_view text) {
    return NearestGpu(text, Known()).value_or("none");
  };
  EXPECT_EQ(nearest("Tesla V100-SXM2-32GB"), "v100-sxm-32gb");
  EXPECT_EQ(nearest("Tesla V100-SXM3-32GB"), "v100-sxm3-32gb");
  EXPECT_EQ(nearest("Tesla V100-DGXS-32GB"), "v100-pcie-32gb");
  EXPECT_EQ(nearest("NVIDIA GeForce RTX 2080 Ti"), "rtx-2080-ti");
  EXPECT_EQ(nearest("NVIDIA A100-PG509-200"), "a100-pg509-200");
  EXPECT_EQ(nearest("NVIDIA H100 80GB HBM3"), "h100-sxm-80gb");
  EXPECT_EQ(nearest("NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(nearest("NVIDIA H100 NVL"), "h100-nvl");
  EXPECT_EQ(nearest("h100-80gb"), "h100-80gb");
  EXPECT_EQ(nearest("AMD Instinct MI300X VF"), "mi300x");
  EXPECT_EQ(nearest("TITAN Xp"), "titan-xp");
  EXPECT_EQ(nearest("AMD Radeon Graphics"), "none");
  EXPECT_EQ(nearest(""), "none");
}

TEST(NearGpusTest, AllOfAChipOrTheOneWithNearlyTheSameLetters) {
  EXPECT_THAT(NearGpus("v100", Known()),
              testing::ElementsAre("v100-pcie-32gb", "v100-sxm-16gb",
                                   "v100-sxm-32gb", "v100-sxm3-32gb"));
  EXPECT_THAT(NearGpus("titan-x", Known()), testing::ElementsAre("titan-xp"));
  EXPECT_THAT(NearGpus("abacus", Known()), testing::IsEmpty());
}

}  // namespace
}  // namespace stepcast::hw
