#include "cost/overheads/op_names.h"

#include <gtest/gtest.h>

namespace stepcast::cost {
namespace {

TEST(PlainOpNameTest, DropsWhatReleasesChange) {
  EXPECT_EQ(PlainOpName("autograd::engine::evaluate_function: AddmmBackward0"),
            "AddmmBackward");
  EXPECT_EQ(PlainOpName("AddmmBackward"), "AddmmBackward");
  EXPECT_EQ(PlainOpName("torch::autograd::AccumulateGrad"), "AccumulateGrad");
  EXPECT_EQ(PlainOpName("aten::add_"), "add");
}

TEST(PlainOpNameTest, KeepsTemplateArgumentsAndLabels) {
  EXPECT_EQ(PlainOpName("CppNode<fbgemm::Lookup_Op>"),
            "CppNode<fbgemm::Lookup_Op>");
  EXPECT_EQ(PlainOpName("Optimizer.step#SGD.step"), "Optimizer.step#SGD.step");
  EXPECT_EQ(PlainOpName("aten::conv2d"), "conv2d");
}

TEST(PlainOpNameTest, NeverGivesAnEmptyName) {
  EXPECT_EQ(PlainOpName("7"), "7");
  EXPECT_EQ(PlainOpName("_"), "_");
  EXPECT_EQ(PlainOpName("aten::"), "aten::");
  EXPECT_EQ(PlainOpName(""), "");
}

TEST(OpFamilyTest, GoesByWordsOfTheName) {
  EXPECT_EQ(OpFamily("autograd::engine::evaluate_function: MulBackward0"),
            "backward");
  EXPECT_EQ(OpFamily("Optimizer.step#Adagrad.step"), "optimizer");
  EXPECT_EQ(OpFamily("fbgemm::split_embedding_codegen_lookup_sgd_function"),
            "lookup");
  EXPECT_EQ(OpFamily("c10d::allreduce_"), "collective");
  EXPECT_EQ(OpFamily("aten::reshape"), "view");
  EXPECT_EQ(OpFamily("aten::to"), "copy");
  EXPECT_EQ(OpFamily("aten::addmm"), "");
}

}  // namespace
}  // namespace stepcast::cost
