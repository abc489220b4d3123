#include "cost/kernels/fill.h"

#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::Fill;

TEST(MemsetBase, SmallOnesOfTheDriverBeatEveryKernel) {
  // 1.06-1.12 us for up to 576 bytes on A100, 2.9 for 1.5 MB.
  const Machine a100{.device = hw::FindDevice("a100-pg509-200").value()};
  EXPECT_NEAR(MemsetBase(Fill{{128}}, a100).time_us, 1.1, 0.05);
  EXPECT_NEAR(MemsetBase(Fill{{1'475'131}}, a100).time_us, 2.9, 0.6);
  EXPECT_EQ(MemsetBase(Fill{{1'475'131}}, a100).time_us,
            FillBase(Fill{{1'475'131}}, a100).time_us);
  const Machine mi300x{.device = hw::FindDevice("mi300x").value()};
  EXPECT_EQ(MemsetBase(Fill{{128}}, mi300x).time_us,
            FillBase(Fill{{128}}, mi300x).time_us);
}

TEST(FillBase, WritesAtTheSustainedRate) {
  // 76.7 MB: 24 us on H100.
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  EXPECT_NEAR(FillBase(Fill{{76'681'728}}, h100).time_us, 24.2, 4);
}

TEST(FillBase, SmallFillsAreLatency) {
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  EXPECT_NEAR(FillBase(Fill{{4}}, h100).time_us, 1.2, 0.3);
  EXPECT_EQ(FillBase(Fill{{4}}, h100).bound, Bound::kLatency);
}

TEST(FillBase, ObeysTheLawsOfSize) {
  ExpectLawsOfSize([](int64_t size) { return Fill{{size}}; });
}

}  // namespace
}  // namespace stepcast::cost
