#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/build_graph.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"

namespace stepcast::model {
namespace {

using ::testing::HasSubstr;

Settings Infer(std::string impl, Precision precision = Precision::kTf32) {
  Settings settings;
  settings.batch = 1024;
  settings.mode = Mode::kInfer;
  settings.precision = precision;
  settings.impl = *FindImplementation(impl);
  return settings;
}

ir::Graph Build(const std::string& name, const Settings& settings) {
  const auto model = FindModel(name);
  EXPECT_TRUE(model) << model.error().message;
  auto graph = BuildGraph(*model, settings);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

int64_t CountOps(const ir::Graph& graph, std::string_view name) {
  const ir::GraphData& data = graph.data();
  return std::ranges::count_if(data.ops.items(), [&](const ir::Op& op) {
    return graph.text(op.name) == name;
  });
}

TEST(TensorflowTest, XlaJoinsBiasAndRelu) {
  const ir::Graph plain = Build("wide_deep", Infer("tensorflow"));
  const ir::Graph fused = Build("wide_deep", Infer("tensorflow-xla"));
  // Five hidden layers and the last one.
  EXPECT_EQ(CountOps(plain, "tf::BiasAdd"), 6);
  EXPECT_EQ(CountOps(plain, "tf::Relu"), 5);
  EXPECT_EQ(CountOps(fused, "tf::BiasAdd"), 0);
  EXPECT_EQ(CountOps(fused, "tf::XlaRun"), 6);
}

TEST(TensorflowTest, WideAndDeepGathersEveryTableTwice) {
  const ir::Graph graph = Build("wide_deep", Infer("tensorflow"));
  // 16 tables, their vectors and their weights; 13 numbers and 16 columns.
  EXPECT_EQ(CountOps(graph, "tf::ResourceGather"), 32);
  EXPECT_EQ(CountOps(graph, "tf::LoadColumn"), 29);
}

TEST(TensorflowTest, MixedPrecisionCastsWeightsInEveryStep) {
  const ir::Graph graph =
      Build("nvidia_dlrm_t15", Infer("tensorflow", Precision::kAmpFp16));
  // 3 layers below, 5 above, the dense features and the vectors.
  EXPECT_EQ(CountOps(graph, "tf::Cast"), 10);
  EXPECT_EQ(CountOps(Build("nvidia_dlrm_t15", Infer("tensorflow")), "tf::Cast"),
            0);
}

TEST(TensorflowTest, TrainingUpdatesEveryParameter) {
  Settings settings = Infer("tensorflow");
  settings.mode = Mode::kTrain;
  const ir::Graph graph = Build("ncf", settings);
  // Weights and biases of four layers, and a sparse update a table.
  EXPECT_EQ(CountOps(graph, "tf::ResourceApply"), 8);
  EXPECT_EQ(CountOps(graph, "tf::ResourceSparseApply"), 4);
}

TEST(TensorflowTest, FeatureColumnsAreHashedOneByOne) {
  Settings settings = Infer("tensorflow-columns", Precision::kFp32);
  settings.mode = Mode::kTrain;
  // 26 columns, looked up as weights and as vectors.
  const ir::Graph deepfm = Build("deeprec_deepfm", settings);
  EXPECT_EQ(CountOps(deepfm, "tf::FeatureColumn"), 52);
  EXPECT_EQ(CountOps(deepfm, "tf::StringToHashBucketFast"), 52);
  const ir::Graph dlrm = Build("deeprec_dlrm", settings);
  EXPECT_EQ(CountOps(dlrm, "tf::FeatureColumn"), 26);
  EXPECT_EQ(CountOps(dlrm, "tf::ResourceGather"), 26);
}

TEST(TensorflowTest, WithoutGpuKernelsTheTriangleIsMasked) {
  Settings settings = Infer("tensorflow-native", Precision::kFp32);
  settings.mode = Mode::kTrain;
  const ir::Graph graph = Build("nvidia_dlrm_t15", settings);
  EXPECT_EQ(CountOps(graph, "tf::DotBasedInteract"), 0);
  // Forward, and the gradients of both factors.
  EXPECT_EQ(CountOps(graph, "tf::BatchMatMulV2"), 3);
  EXPECT_EQ(CountOps(graph, "tf::Where"), 1);
}

TEST(TensorflowTest, SaysWhatItDoesNotRun) {
  const auto model = FindModel("resnet50");
  ASSERT_TRUE(model) << model.error().message;
  const auto graph = BuildGraph(*model, Infer("tensorflow"));
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("wide_deep, deepfm or ncf"));
}

TEST(TritonTest, EnsemblesLookUpBeforeOneGraphOfTheEngine) {
  const ir::Graph graph =
      Build("nvidia_dlrm_t15", Infer("triton-tensorrt", Precision::kFp16));
  EXPECT_EQ(CountOps(graph, "tf::ResourceGather"), 26);
  const ir::GraphData& data = graph.data();
  EXPECT_EQ(std::ranges::count(data.calls.items(), ir::CallKind::kGraphLaunch,
                               &ir::Call::kind),
            1);
  EXPECT_EQ(CountOps(Build("nvidia_dlrm_t15", Infer("triton-hps")),
                     "tf::ResourceGather"),
            0);
}

TEST(TritonTest, ServesAndDoesNotTrain) {
  const auto model = FindModel("nvidia_dlrm_t15");
  ASSERT_TRUE(model) << model.error().message;
  Settings settings = Infer("triton");
  settings.mode = Mode::kTrain;
  const auto graph = BuildGraph(*model, settings);
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("expected mode infer"));
}

}  // namespace
}  // namespace stepcast::model
