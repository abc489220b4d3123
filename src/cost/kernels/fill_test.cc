#include "cost/kernels/fill.h"

#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::Fill;

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
