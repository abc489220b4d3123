#include "cost/kernels/cpu_base.h"

#include <gtest/gtest.h>

#include "cost/kernels/bandwidth.h"
#include "cost/processor_testing.h"

namespace stepcast::cost {
namespace {

Base Price(const ir::KernelShape& shape) {
  return FindFamily(shape)->base(shape, ProcessorForTests());
}

TEST(CpuBaseTest, AProductIsItsCallAndItsArithmetic) {
  const double call = LatencyUs(ProcessorForTests());
  // 2 * 64^3 flop at 50e3 a microsecond: 10.5 us.
  const Base base = Price(ir::Gemm{
      .batch = 1, .m = 64, .n = 64, .k = 64, .dtype = ir::DType::kFp32});
  EXPECT_NEAR(base.time_us, call + 10.49, 0.01);
  EXPECT_EQ(base.bound, Bound::kCompute);
  // A row more costs a row more: there are no tiles to fill.
  const Base more = Price(ir::Gemm{
      .batch = 1, .m = 65, .n = 64, .k = 64, .dtype = ir::DType::kFp32});
  EXPECT_NEAR((more.time_us - call) / (base.time_us - call), 65.0 / 64, 1e-6);
}

TEST(CpuBaseTest, BatchesHaveARateOfTheirOwn) {
  const double call = LatencyUs(ProcessorForTests());
  const Base base = Price(ir::Gemm{
      .batch = 2, .m = 64, .n = 64, .k = 64, .dtype = ir::DType::kFp32});
  EXPECT_NEAR(base.time_us, call + 4 * 10.486, 0.01);
}

TEST(CpuBaseTest, AConvolutionCountsItsMultiplications) {
  const double call = LatencyUs(ProcessorForTests());
  // 2 * 2*16*16 positions * 8 * 8 channels * 9 flop at 100e3: 5.9 us.
  const Base base = Price(ir::Convolution{.batch = 2,
                                          .in_channels = 8,
                                          .height = 16,
                                          .width = 16,
                                          .out_channels = 8,
                                          .kernel_height = 3,
                                          .kernel_width = 3,
                                          .padding = 1,
                                          .dtype = ir::DType::kFp32});
  EXPECT_NEAR(base.time_us, call + 5.9, 0.01);
}

TEST(CpuBaseTest, AnEmptyLoopIsACall) {
  const Base base = Price(
      ir::Gemm{.batch = 1, .m = 2, .n = 2, .k = 2, .dtype = ir::DType::kFp32});
  EXPECT_EQ(base.bound, Bound::kLatency);
  EXPECT_NEAR(base.time_us, LatencyUs(ProcessorForTests()), 0.01);
}

}  // namespace
}  // namespace stepcast::cost
