#include "engine/short_name.h"

#include <gtest/gtest.h>

namespace stepcast::engine {
namespace {

TEST(ShortNameTest, TasksOfTheAutogradEngineAreCalledByTheirFunction) {
  EXPECT_EQ(ShortOpName("autograd::engine::evaluate_function: AddmmBackward0"),
            "AddmmBackward0");
  EXPECT_EQ(ShortOpName("autograd::engine::evaluate_function: "
                        "torch::autograd::AccumulateGrad"),
            "AccumulateGrad");
  EXPECT_EQ(ShortOpName("aten::addmm"), "aten::addmm");
  EXPECT_EQ(ShortOpName("torch::autograd::"), "torch::autograd::");
  EXPECT_EQ(ShortOpName(""), "");
}

TEST(ShortNameTest, KernelsLoseTheirSpacesAndArguments) {
  EXPECT_EQ(
      ShortWorkName("void at::native::(anonymous namespace)::"
                    "CatArrayBatchedCopy<float, unsigned int, 2>(float*)"),
      "CatArrayBatchedCopy");
  EXPECT_EQ(ShortWorkName("volta_sgemm_128x64_tn"), "volta_sgemm_128x64_tn");
  EXPECT_EQ(ShortWorkName("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWork)"),
            "ncclKernel_AllReduce_RING_LL_Sum_float");
  EXPECT_EQ(ShortWorkName("Memcpy HtoD (Pageable -> Device)"),
            "Memcpy HtoD (Pageable -> Device)");
}

TEST(ShortNameTest, WhatIsNoFunctionStaysAsItIs) {
  EXPECT_EQ(ShortWorkName("<unknown>"), "<unknown>");
  EXPECT_EQ(ShortWorkName("a::<lambda>"), "a::<lambda>");
  EXPECT_EQ(ShortWorkName("void "), "void ");
  EXPECT_EQ(ShortWorkName(""), "");
}

}  // namespace
}  // namespace stepcast::engine
