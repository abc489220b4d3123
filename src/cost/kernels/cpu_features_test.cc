#include "cost/kernels/cpu_features.h"

#include <vector>

#include <gtest/gtest.h>

namespace stepcast::cost {
namespace {

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

TEST(CpuFeaturesTest, LayoutsAreToldApart) {
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

TEST(CpuFeaturesTest, LookupsAreWhatARecordedCallTells) {
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
