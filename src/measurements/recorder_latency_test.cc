#include "measurements/recorder_latency.h"

#include <gtest/gtest.h>

namespace stepcast::measurements {
namespace {

TracedKernels Timed(const ir::KernelShape& shape, double time_us) {
  return {.iteration = 0, .op = "op", .shapes = {shape}, .time_us = time_us};
}

TEST(RecorderLatency, IsTheMedianOfSmallElementwiseKernels) {
  const ir::Elementwise small{.elements = 8, .read = {32}, .written = {32}};
  const ir::Elementwise large{
      .elements = 1 << 20, .read = {1 << 22}, .written = {1 << 22}};
  const std::vector<TracedKernels> kernels = {Timed(small, 1), Timed(small, 3),
                                              Timed(small, 2), Timed(large, 50),
                                              Timed(ir::Fill{{4}}, 9)};
  EXPECT_EQ(SmallestKernelUs(kernels), 2);
}

TEST(RecorderLatency, IsUnknownWithoutSuchKernels) {
  EXPECT_EQ(SmallestKernelUs({}), 0);
}

}  // namespace
}  // namespace stepcast::measurements
