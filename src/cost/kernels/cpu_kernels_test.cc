#include "cost/kernels/cpu_kernels.h"

#include <functional>

#include <gtest/gtest.h>

#include "cost/kernels/bandwidth.h"
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

}  // namespace
}  // namespace stepcast::cost
