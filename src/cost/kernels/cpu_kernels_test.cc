#include "cost/kernels/cpu_kernels.h"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "cost/kernels/bandwidth.h"
#include "cost/processor_testing.h"
#include "hw/cpu_device.h"
#include "hw/node.h"

namespace stepcast::cost {
namespace {

Machine Server(std::string_view name = "2s-epyc-7742") {
  const hw::Node host = hw::FindServer(name).value();
  return {.device = hw::MakeCpuDevice(host, hw::WholeNode(host))};
}

Base Price(const ir::KernelShape& shape, const Machine& machine) {
  const Family* family = FindFamily(shape);
  EXPECT_NE(family, nullptr);
  return BaseOn(*family, shape, machine);
}

// On every server: larger shapes take longer, but for what more threads share
// of a fixed operand, and none beats the roofline.
void ExpectLaws(const std::function<ir::KernelShape(int64_t size)>& shape_of) {
  const auto servers = hw::LoadServers().value();
  for (const hw::Node& server : servers) {
    const Machine machine = Server(server.name);
    double last = 0;
    for (int64_t size = 64; size < (1LL << 30); size += size / 4) {
      const Base base = Price(shape_of(size), machine);
      EXPECT_GE(base.time_us, 0.99 * last) << server.name << " " << size;
      EXPECT_GE(base.time_us, base.roofline_us) << server.name << " " << size;
      last = base.time_us;
    }
  }
}

TEST(CpuKernelsTest, LargerTakesLonger) {
  ExpectLaws([](int64_t size) {
    return ir::Gemm{
        .batch = 1, .m = size, .n = 256, .k = 256, .dtype = ir::DType::kFp32};
  });
  ExpectLaws([](int64_t size) {
    return ir::Elementwise{.elements = size,
                           .read = {4 * size},
                           .written = {4 * size},
                           .dtype = ir::DType::kFp32};
  });
  ExpectLaws([](int64_t size) {
    return ir::EmbeddingBag{.tables = 8,
                            .rows = 8'000'000,
                            .dim = 64,
                            .batch = size,
                            .lookups = 80 * size,
                            .dtype = ir::DType::kFp32,
                            .index_alpha = 0};
  });
  ExpectLaws([](int64_t size) {
    return ir::Index{.elements = size,
                     .source = size,
                     .scatter = true,
                     .accumulate = true,
                     .slice = 1,
                     .dtype = ir::DType::kFp32};
  });
}

TEST(CpuKernelsTest, ALargeProductReachesItsShareOfThePeak) {
  const Machine machine = Server();
  const ir::Gemm gemm{
      .batch = 1, .m = 8192, .n = 8192, .k = 8192, .dtype = ir::DType::kFp32};
  // 2 x 8192^3 FLOP / (128 x 2.25 GHz x 32 FLOP x 0.75).
  const double expected = 2.0 * 8192 * 8192 * 8192 / (9.216e6 * 0.75);
  EXPECT_NEAR(Price(gemm, machine).time_us, expected, 0.01 * expected);
}

TEST(CpuKernelsTest, ALargeStreamIsBoundByMemory) {
  const Machine machine = Server();
  const int64_t elements = 1'000'000'000;
  const Base base = Price(ir::Elementwise{.elements = elements,
                                          .read = {4 * elements},
                                          .written = {4 * elements},
                                          .dtype = ir::DType::kFp32},
                          machine);
  EXPECT_EQ(base.bound, Bound::kDram);
  // 8 GB / (409.6 GB/s x 0.8).
  EXPECT_NEAR(base.time_us, 8e9 / (409.6e3 * 0.8), 0.01 * base.time_us);
}

TEST(CpuKernelsTest, SmallOperatorsStayOnOneThread) {
  const Machine machine = Server();
  const CpuLoad small{.bytes = 8000, .items = 1000};
  EXPECT_DOUBLE_EQ(ThreadsFor(small, machine), 1);
  const CpuLoad large{.bytes = 8e9, .items = 1e9};
  EXPECT_DOUBLE_EQ(ThreadsFor(large, machine), 128);
  EXPECT_LT(PriceLoad(small, machine).time_us, machine.device.team_us);
}

TEST(CpuKernelsTest, UpdatesCostMoreThanLookups) {
  const Machine machine = Server();
  ir::EmbeddingBag bag{.tables = 8,
                       .rows = 80'000'000,
                       .dim = 128,
                       .batch = 4096,
                       .lookups = 655'360,  // 20 a sample and table.
                       .dtype = ir::DType::kFp32,
                       .index_alpha = 0};
  const double forward = Price(bag, machine).time_us;
  bag.pass = ir::Pass::kBackward;
  bag.update = ir::Update::kSgd;
  const double sgd = Price(bag, machine).time_us;
  bag.update = ir::Update::kAdagrad;
  EXPECT_GT(sgd, 1.5 * forward);
  EXPECT_GT(Price(bag, machine).time_us, 1.5 * sgd);
}

TEST(CpuKernelsTest, MeasuredProcessorsKeepTheirFormulas) {
  Machine machine = Server();
  machine.device.core_gbs = 0;
  EXPECT_FALSE(IsServer(machine));
  const ir::KernelShape shape = ir::Concat{
      .tensors = 2, .elements = 1'000'000, .dtype = ir::DType::kFp32};
  const Family* family = FindFamily(shape);
  EXPECT_EQ(BaseOn(*family, shape, machine).time_us,
            family->base(shape, machine).time_us);
}

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

std::vector<float> Features(const ir::KernelShape& shape,
                            hw::Generation generation) {
  Machine machine;
  machine.device.generation = generation;
  machine.device.sm_count = 2;
  machine.device.clock_ghz = 2;
  FeatureVector features;
  FeaturesOn(*FindFamily(shape), shape, machine,
             {.time_us = 8, .compute_us = 4, .memory_us = 2}, features);
  return {features.values().begin(), features.values().end()};
}

TEST(CpuFeaturesTest, LayoutsAreDistinguished) {
  ir::Gemm product{
      .batch = 1, .m = 7, .n = 15, .k = 31, .dtype = ir::DType::kFp32};
  const auto plain = Features(product, hw::Generation::kCpu);
  EXPECT_EQ(plain, (std::vector<float>{3, 2, 1, 1, 3, 4, 5, 0, 0, 2}));
  product.transpose_b = true;
  EXPECT_EQ(Features(product, hw::Generation::kCpu),
            (std::vector<float>{3, 2, 1, 1, 3, 4, 5, 0, 1, 2}));
}

TEST(CpuFeaturesTest, EveryFamilyHasSomeAndAlwaysAsMany) {
  const ir::Pooling pooling{.inputs = 64, .outputs = 16, .window = 4};
  EXPECT_EQ(Features(pooling, hw::Generation::kCpu).size(), 9U);
  EXPECT_EQ(Features(ir::Pooling{}, hw::Generation::kCpu).size(), 9U);
  // On GPUs its formula is not corrected.
  EXPECT_TRUE(Features(pooling, hw::Generation::kVolta).empty());
}

TEST(CpuFeaturesTest, LookupsAreWhatARecordedCallShows) {
  ir::EmbeddingBag bag{.tables = 1,
                       .rows = 1023,
                       .dim = 16,
                       .batch = 8,
                       .lookups = 32,
                       .dtype = ir::DType::kFp32,
                       .index_alpha = 0};
  const auto counted = Features(bag, hw::Generation::kCpu);
  // The benchmark knows how its ids fall, a recorded call does not.
  bag.index_alpha = -1;
  bag.unique_rows = 20;
  EXPECT_EQ(Features(bag, hw::Generation::kCpu), counted);
}

}  // namespace
}  // namespace stepcast::cost
