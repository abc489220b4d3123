#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/families.h"
#include "cost/machine_testing.h"
#include "hw/device.h"

namespace stepcast::cost {
namespace {

using ir::Arithmetic;
using ir::DType;
using ir::Elementwise;

// `inputs` tensors in, one out.
Elementwise Map(int64_t elements, int64_t inputs, DType dtype = DType::kFp32) {
  const int64_t bytes = elements * ir::SizeOf(dtype);
  return {.elements = elements,
          .read = Bytes{inputs * bytes},
          .written = Bytes{bytes},
          .dtype = dtype};
}

double Time(const Elementwise& op, const Machine& machine) {
  return ElementwiseBase(op, machine).time_us;
}

TEST(ElementwiseBase, TheReluOfADlrmOnV100) {
  // Measured: 23.4 us forward; 34.6 us backward, which reads two tensors.
  Machine v100 = On("v100-sxm-16gb");
  v100.device.copy_share = 0.89;
  const int64_t elements = 2048 * 1024;
  EXPECT_NEAR(Time(Map(elements, 1), v100), 23.4, 0.1 * 23.4);
  EXPECT_NEAR(Time(Map(elements, 2), v100), 34.6, 0.1 * 34.6);
  // 2048 x 64: 3 us in a profile with integer microseconds.
  EXPECT_NEAR(Time(Map(2048 * 64, 1), v100), 3, 1);
}

TEST(ElementwiseBase, BroadcastsPayForTheirAddresses) {
  // A profiled bias on H100, bf16 12.6 M elements: 35.6 us; the same shape with
  // a number instead: 17.9 us.
  const Machine h100 = On("h100-sxm-80gb");
  const int64_t elements = 12582912;
  Elementwise bias = Map(elements, 1, DType::kBf16);
  EXPECT_NEAR(Time(bias, h100), 17.9, 0.15 * 17.9);
  bias.read.count += 2 * 192;
  EXPECT_NEAR(Time(bias, h100), 35.6, 0.15 * 35.6);
}

TEST(ElementwiseBase, PowersAreBoundByArithmeticOnCdna) {
  // 54 M elements on MI210: measured 313 us for a product, 907 us for a power.
  Machine mi210 = On("mi210");
  mi210.device.copy_share = 0.85;
  Elementwise power = Map(54198621, 1);
  EXPECT_NEAR(Time(power, mi210), 313, 0.1 * 313);
  power.arithmetic = Arithmetic::kPower;
  EXPECT_NEAR(Time(power, mi210), 907, 0.1 * 907);
  EXPECT_EQ(ElementwiseBase(power, mi210).bound, Bound::kCompute);
}

TEST(ElementwiseBase, GrowsWithElementsAndStaysAboveTheRoofline) {
  const auto names = hw::GpuNames();
  for (const std::string& gpu : names) {
    const Machine machine = On(gpu);
    for (const DType dtype : {DType::kFp32, DType::kBf16}) {
      double last = 0;
      for (int64_t elements = 64; elements < (1LL << 32); elements *= 2) {
        const Elementwise op = Map(elements, 2, dtype);
        const Base base = ElementwiseBase(op, machine);
        EXPECT_GT(base.time_us, last) << gpu << " " << elements;
        EXPECT_GE(base.time_us, base.roofline_us) << gpu << " " << elements;
        EXPECT_GT(Time(Map(elements, 3, dtype), machine), base.time_us) << gpu;
        last = base.time_us;
      }
    }
  }
}

TEST(ElementwiseBase, AddressesOfBroadcastsComeBeforeTheLoads) {
  // The bias of a layer copied to 2048 x 128 results, V100 at 1297 MHz.
  const Machine v100 = On("v100-sxm-16gb@1297MHz");
  Elementwise op = Map(2048 * 128, 1);
  const double whole = Time(op, v100);
  op.read = {128 * 4};
  EXPECT_GT(Time(op, v100), whole + 0.5);
}

TEST(ElementwiseBase, ReadingAcrossALayoutCostsSectors) {
  // 32256 x 1536, one input transposed: 434 us on H100 in FP32, 404 in BF16.
  const Machine h100 = On("h100-sxm-80gb");
  for (const auto& [dtype, measured] :
       {std::pair(DType::kFp32, 434.0), std::pair(DType::kBf16, 404.0)}) {
    Elementwise op = Map(49'545'216, 2, dtype);
    EXPECT_LT(Time(op, h100), 0.6 * measured);
    op.scattered = true;
    EXPECT_NEAR(Time(op, h100), measured, 0.1 * measured);
  }
}

TEST(ElementwiseBase, CdnaTakesLongForSpecialFunctionsOf16Bits) {
  // silu on MI300X: 700 G elements/s.
  const Machine mi300x = On("mi300x");
  Elementwise op = Map(1 << 26, 1, DType::kBf16);
  op.arithmetic = ir::Arithmetic::kTranscendental;
  EXPECT_NEAR((1 << 26) / Time(op, mi300x) / 700e3, 1, 0.15);
}

TEST(ElementwiseFeatures, AreAsManyForEveryShape) {
  const Machine machine = On("v100-pcie-32gb");
  FeatureVector small;
  FeatureVector large;
  const Elementwise one = Map(1, 1);
  const Elementwise many = Map(1 << 20, 2, DType::kFp16);
  ElementwiseFeatures(one, machine, ElementwiseBase(one, machine), small);
  ElementwiseFeatures(many, machine, ElementwiseBase(many, machine), large);
  ASSERT_EQ(small.values().size(), large.values().size());
  EXPECT_EQ(small.values()[2], 1);  // Tensors read.
  EXPECT_EQ(large.values()[2], 2);
}

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
