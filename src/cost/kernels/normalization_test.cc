#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/families.h"
#include "cost/machine_testing.h"
#include "hw/device.h"

namespace stepcast::cost {
namespace {

using ir::DType;
using ir::Normalization;
using ir::NormKind;
using ir::Pass;

double Time(const Normalization& op, const Machine& machine) {
  return NormalizationBase(op, machine).time_us;
}

TEST(NormalizationBase, ProfiledLayerNormsOfH100) {
  const Machine h100 = On("h100-sxm-80gb");
  // 32256 x 1536 fp32: 158.9 us; 141 x 512 bf16: 3.1 us.
  const Normalization large{NormKind::kLayer, 32256, 1536, DType::kFp32};
  EXPECT_NEAR(Time(large, h100), 158.9, 0.25 * 158.9);
  const Normalization tiny{NormKind::kLayer, 141, 512, DType::kBf16};
  EXPECT_NEAR(Time(tiny, h100), 3.1, 1.5);
}

TEST(NormalizationBase, LongRowsAreReadTwice) {
  // T4 goes from 1.1 to 1.5 times a copy between 1024 and 2048 columns.
  const Machine t4 = On("t4");
  const double copy = StreamUs(2.0 * 16384 * 4096 * 4, t4);
  const Normalization rows_of_4096{NormKind::kLayer, 16384, 4096, DType::kFp32};
  const Normalization rows_of_512{NormKind::kLayer, 8 * 16384, 512,
                                  DType::kFp32};
  EXPECT_NEAR(Time(rows_of_4096, t4) / copy, 1.5, 0.1);
  EXPECT_LT(NormalizationBase(rows_of_512, t4).memory_us, 1.1 * copy);
}

TEST(NormalizationBase, BackwardIsBothGradients) {
  const Machine v100 = On("v100-pcie-32gb");
  Normalization op{NormKind::kLayer, 8192, 1024, DType::kFp32,
                   Pass::kBackwardData};
  const double data = Time(op, v100);
  op.pass = Pass::kBackwardWeight;
  const double weight = Time(op, v100);
  op.pass = Pass::kBackward;
  EXPECT_DOUBLE_EQ(Time(op, v100), data + weight);
}

TEST(NormalizationBase, BatchNormReadsItsInputTwice) {
  // 3 passes over 1 GB at 900 GB/s x share.
  const Machine v100 = On("v100-pcie-32gb");
  const Normalization op{NormKind::kBatch, 256, 1 << 20, DType::kFp32};
  const double pass = 256.0 * (1 << 20) * 4 / v100.copy_rate();
  EXPECT_NEAR(Time(op, v100), 3 * pass, 0.15 * 3 * pass);
}

TEST(NormalizationBase, FewChannelsLeaveSmsIdle) {
  const Machine v100 = On("v100-pcie-32gb");
  const Normalization many{NormKind::kBatch, 80, 1 << 16, DType::kFp32};
  const Normalization few{NormKind::kBatch, 8, 10 << 16, DType::kFp32};
  EXPECT_GT(Time(few, v100), 3 * Time(many, v100));
}

TEST(NormalizationBase, ThreadsOfAtensBatchNormWaitForEveryElement) {
  // MI300X, 64 channels of 125440 bf16 values: 162 us forward, 396 backward.
  const Machine mi300x = On("mi300x");
  Normalization op{NormKind::kBatch, 64, 125440, DType::kBf16};
  EXPECT_NEAR(Time(op, mi300x) / 162, 1, 0.4);
  op.pass = Pass::kBackward;
  EXPECT_NEAR(Time(op, mi300x) / 396, 1, 0.2);
}

TEST(NormalizationBase, StepsOfSmallKernelsAreNotDispatches) {
  // MI300X, 77 rows of 768 bf16 values: 4.2-4.8 us, of which 4 are dispatch.
  const Normalization op{NormKind::kLayer, 77, 768, DType::kBf16};
  EXPECT_LT(Time(op, On("mi300x")), 6.5);
}

TEST(NormalizationBase, GrowsWithRowsAndColumnsAndStaysAboveTheRoofline) {
  const auto names = hw::GpuNames();
  for (const std::string& gpu : names) {
    const Machine machine = On(gpu);
    for (const NormKind kind :
         {NormKind::kLayer, NormKind::kBatch, NormKind::kGroup}) {
      for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
        double last = 0;
        for (int64_t size = 4; size < 30000; size *= 2) {
          const Normalization op{kind, size, size, DType::kFp32, pass};
          const Base base = NormalizationBase(op, machine);
          EXPECT_GT(base.time_us, last) << gpu << " " << size;
          EXPECT_GE(base.time_us, base.roofline_us) << gpu << " " << size;
          last = base.time_us;
        }
      }
    }
  }
}

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
