#include "cost/kernels/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/machine_testing.h"
#include "hw/device.h"

namespace stepcast::cost {
namespace {

using ir::DType;
using ir::Softmax;

double Time(int64_t rows, int64_t columns, const Machine& machine,
            ir::Pass pass = ir::Pass::kForward) {
  return SoftmaxBase(Softmax{rows, columns, DType::kFp32, pass}, machine)
      .time_us;
}

TEST(SoftmaxBase, ProfiledKernelsOfH100) {
  const Machine h100 = On("h100-sxm-80gb");
  // 64 x 512 rows of 512, FP32: 52.3 us.
  EXPECT_NEAR(Time(64 * 512, 512, h100), 52.3, 0.15 * 52.3);
  // 12 x 5 rows of 5: 1.9 us.
  EXPECT_NEAR(Time(60, 5, h100), 1.9, 1);
  // 8 x 12 x 3137 rows of 3137, bf16: 5.7 ms.
  const Softmax large{8LL * 12 * 3137, 3137, DType::kBf16};
  EXPECT_NEAR(SoftmaxBase(large, h100).time_us, 5707, 0.5 * 5707);
}

TEST(SoftmaxBase, LongRowsAreReadAgain) {
  // V100, 128 MB: a row that fits a warp takes about a copy's time, one that
  // takes a block 1.4 times as long.
  const Machine v100 = On("v100-pcie-32gb");
  const double short_rows = Time(16384, 1024, v100);
  const double long_rows = Time(8192, 2048, v100);
  EXPECT_GT(long_rows, 1.1 * short_rows);
  EXPECT_LT(long_rows, 1.6 * short_rows);
}

TEST(SoftmaxBase, BackwardMovesAThirdTensor) {
  const Machine v100 = On("v100-pcie-32gb");
  const double forward = Time(16384, 512, v100);
  const double backward = Time(16384, 512, v100, ir::Pass::kBackward);
  EXPECT_NEAR(backward / forward, 1.5, 0.1);
}

TEST(SoftmaxBase, GrowsWithRowsAndColumnsAndStaysAboveTheRoofline) {
  const auto names = hw::GpuNames();
  for (const std::string& gpu : names) {
    const Machine machine = On(gpu);
    for (int64_t rows = 1; rows < 100000; rows = rows * 3 + 1) {
      double last = 0;
      for (int64_t columns = 4; columns < 100000; columns += columns / 4) {
        const Base base =
            SoftmaxBase(Softmax{rows, columns, DType::kFp32}, machine);
        EXPECT_GE(base.time_us, last) << gpu << " " << rows << " " << columns;
        EXPECT_GE(base.time_us, base.roofline_us) << gpu;
        EXPECT_GT(Time(2 * rows, columns, machine), base.time_us) << gpu;
        last = base.time_us;
      }
    }
  }
}

}  // namespace
}  // namespace stepcast::cost
