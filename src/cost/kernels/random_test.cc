#include "cost/kernels/random.h"

#include <gtest/gtest.h>

#include "hw/device.h"

namespace stepcast::cost {
namespace {

using ir::DType;
using ir::Random;

TEST(RandomBase, ProfiledNormalsOfH100) {
  // 2.06 M FP32 normals: 7.9 us.
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  EXPECT_NEAR(RandomBase(Random{2064384, DType::kFp32}, h100).time_us, 7.9,
              0.15 * 7.9);
}

TEST(RandomBase, ArithmeticBindsNotMemory) {
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  const Base base = RandomBase(Random{1 << 26, DType::kFp16}, h100);
  EXPECT_EQ(base.bound, Bound::kCompute);
  EXPECT_GE(base.time_us, base.roofline_us);
}

}  // namespace
}  // namespace stepcast::cost
