#include "model/build_graph.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/graph_text.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"

namespace stepcast::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Model Small(std::string_view extra = "") {
  const auto model = ParseModel(
      "batch = 4\ndense_features = 3\nbottom_mlp = [2]\ntop_mlp = [5, 1]\n" +
          std::string(extra) +
          "[[tables]]\nrows = 10\ndim = 2\npooling = 1\nids = \"uniform\"\n",
      "small.toml", {});
  EXPECT_TRUE(model) << model.error().message;
  return *model;
}

ir::Graph Build(const Model& model, const Settings& settings) {
  auto graph = BuildGraph(model, settings);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

// Elements updated by the optimizer's kernels.
int64_t UpdatedElements(const ir::Graph& graph) {
  int64_t elements = 0;
  for (const ir::ActivityId id : graph.data().activities.ids()) {
    if (const auto* const step =
            std::get_if<ir::OptimizerStep>(&graph.shape(id))) {
      elements += step->elements;
    }
  }
  return elements;
}

int64_t Count(const ir::Graph& graph, ir::CallKind kind) {
  int64_t count = 0;
  for (const ir::Call& call : graph.data().calls) {
    count += call.kind == kind ? 1 : 0;
  }
  return count;
}

// Builds, with all shapes sized, or says that this model does not run this way.
void ExpectRuns(const Model& model, const Settings& settings) {
  const auto graph = BuildGraph(model, settings);
  if (!graph) {
    EXPECT_EQ(graph.error().code, ErrorCode::kUnsupported)
        << graph.error().message;
    EXPECT_NE(settings.impl->name, "pytorch") << graph.error().message;
    return;
  }
  for (const ir::KernelShape& shape : graph->data().shapes) {
    EXPECT_TRUE(ir::IsSized(shape)) << model.name << " " << settings.impl->name
                                    << ": " << ir::ShapeText(shape);
  }
}

TEST(BuildGraphTest, EveryBuiltInModelRunsWhereItCan) {
  const auto models = LoadModels();
  ASSERT_TRUE(models);
  for (const Model& model : *models) {
    for (const std::string& impl : ImplementationNames()) {
      Settings settings;
      settings.impl = *FindImplementation(impl);
      ExpectRuns(model, settings);
      settings.mode = Mode::kInfer;
      ExpectRuns(model, settings);
    }
  }
}

TEST(BuildGraphTest, AnInferenceStepIsTheForwardPass) {
  Settings settings;
  settings.mode = Mode::kInfer;
  const ir::Graph graph = Build(Small(), settings);
  EXPECT_EQ(graph.data().threads.size(), 1u);
  EXPECT_EQ(UpdatedElements(graph), 0);
  EXPECT_THAT(ir::GraphText(graph), HasSubstr("aten::sigmoid"));
}

// 3*2 + 2 + (2+1)*5 + 5 + 5 + 1 parameters of the MLPs.
TEST(BuildGraphTest, EveryDenseParameterIsUpdatedOnce) {
  constexpr int64_t kParameters = 34;
  for (const char* const form : {"per_tensor", "foreach", "fused"}) {
    const Model model =
        Small("optimizer_form = \"" + std::string(form) + "\"\n");
    EXPECT_EQ(UpdatedElements(Build(model, {})), kParameters) << form;
  }
}

TEST(BuildGraphTest, CapturedPartsAreOneLaunchEach) {
  struct Case {
    CudaGraphs graphs = CudaGraphs::kOff;
    bool optimizer_inside = false;
  };
  for (const Case& one : {Case{CudaGraphs::kForward, false},
                          Case{CudaGraphs::kForwardBackward, false},
                          Case{CudaGraphs::kAll, true}}) {
    Settings settings;
    settings.cuda_graphs = one.graphs;
    const ir::Graph graph = Build(Small(), settings);
    EXPECT_EQ(Count(graph, ir::CallKind::kGraphLaunch), 1);
    // Without names of their own, captured updates are below no op.
    EXPECT_EQ(ir::GraphText(graph).find("Optimizer.step") == std::string::npos,
              one.optimizer_inside);
  }
}

TEST(BuildGraphTest, CapturingLosesNoKernelOfTheDevice) {
  Settings eager;
  eager.impl = *FindImplementation("nvidia");
  Settings captured = eager;
  captured.cuda_graphs = CudaGraphs::kAll;
  // Two copies into the inputs that the graph was captured with come on top.
  EXPECT_EQ(Build(Small(), captured).data().activities.size(),
            Build(Small(), eager).data().activities.size() + 2);
}

TEST(BuildGraphTest, MixedPrecisionMultipliesInHalfAndUpdatesInFull) {
  Settings settings;
  settings.precision = Precision::kAmpFp16;
  const ir::Graph graph = Build(Small(), settings);
  for (const ir::KernelShape& shape : graph.data().shapes) {
    if (const auto* const gemm = std::get_if<ir::Gemm>(&shape)) {
      EXPECT_EQ(gemm->dtype, ir::DType::kFp16);
    } else if (const auto* const step =
                   std::get_if<ir::OptimizerStep>(&shape)) {
      EXPECT_EQ(step->dtype, ir::DType::kFp32);
    }
  }
}

// Elementwise kernels that read `from` bytes per element and write `to`.
int64_t CountCasts(const ir::Graph& graph, int64_t elements, int64_t from,
                   int64_t to) {
  int64_t count = 0;
  for (const ir::ActivityId id : graph.data().activities.ids()) {
    const auto* const op = std::get_if<ir::Elementwise>(&graph.shape(id));
    count += op != nullptr && op->elements == elements &&
                     op->read.count == from * elements &&
                     op->written.count == to * elements
                 ? 1
                 : 0;
  }
  return count;
}

// Vectors of tables are FP32, that of the bottom MLP FP16: autocast joins them
// in FP32 and casts either factor of the products.
TEST(BuildGraphTest, MixedPrecisionJoinsInTheWidestType) {
  const Settings settings{.precision = Precision::kAmpFp16,
                          .impl = *FindImplementation("pytorch-bags")};
  const ir::Graph graph = Build(Small(), settings);
  std::vector<ir::DType> joined;
  for (const ir::ActivityId id : graph.data().activities.ids()) {
    if (const auto* const op = std::get_if<ir::Concat>(&graph.shape(id))) {
      joined.push_back(op->dtype);
    }
  }
  EXPECT_THAT(joined, ElementsAre(ir::DType::kFp32, ir::DType::kFp16));
  // Two vectors of two numbers for each of four samples: to FP16 for the
  // products, their gradients back.
  EXPECT_EQ(CountCasts(graph, 16, 4, 2), 2);
  EXPECT_EQ(CountCasts(graph, 16, 2, 4), 2);
  // The bottom MLP's vector alone, to be joined.
  EXPECT_EQ(CountCasts(graph, 8, 2, 4), 1);
}

int64_t CountFullProducts(const ir::Graph& graph) {
  int64_t count = 0;
  for (const ir::ActivityId id : graph.data().activities.ids()) {
    const auto* const gemm = std::get_if<ir::Gemm>(&graph.shape(id));
    count += gemm != nullptr && gemm->dtype == ir::DType::kFp32 ? 1 : 0;
  }
  return count;
}

// The library of PyTorch 1.5: every size that is not a multiple of 8.
TEST(BuildGraphTest, MatrixUnitsWantedAlignedSizesOnce) {
  const auto model = ParseModel(
      "batch = 16\ndense_features = 8\nbottom_mlp = [24]\n"
      "top_mlp = [32, 8]\ntop_padding = 8\n"
      "[[tables]]\nrows = 10\ndim = 24\n",
      "aligned.toml", {});
  ASSERT_TRUE(model) << model.error().message;
  Settings settings{.precision = Precision::kAmpFp16,
                    .impl = *FindImplementation("pytorch-bags")};
  EXPECT_EQ(CountFullProducts(Build(*model, settings)), 0);
  settings.torch = TorchRelease::kTorch15;
  // Two vectors per sample: their products, and two gradients. The top MLP
  // reads 24 + 1 numbers, padded to 32.
  EXPECT_EQ(CountFullProducts(Build(*model, settings)), 3);
  Model unpadded = *model;
  unpadded.interaction.padding = 1;
  // And the first layer of the top: forward, data and weights.
  EXPECT_EQ(CountFullProducts(Build(unpadded, settings)), 6);
}

TEST(BuildGraphTest, SeparateBagsLookUpTableByTable) {
  Settings settings;
  settings.impl = *FindImplementation("pytorch-bags");
  const ir::Graph graph = Build(*FindModel("dlrm_ddp"), settings);
  int64_t lookups = 0;
  for (const ir::Op& op : graph.data().ops) {
    lookups += graph.text(op.name) == "aten::embedding_bag" ? 1 : 0;
  }
  EXPECT_EQ(lookups, 8);
}

TEST(BuildGraphTest, TorchrecOnSeveralRanksCommunicates) {
  const Model model = Small();
  Settings settings;
  settings.impl = *FindImplementation("torchrec");
  const RankPlan plan{.world = 4, .local = model.tables};
  const auto graph = BuildRankGraph(model, settings, plan);
  ASSERT_TRUE(graph) << graph.error().message;
  int64_t collectives = 0;
  for (const ir::Activity& activity : graph->data().activities) {
    collectives += activity.kind == ir::ActivityKind::kCollective ? 1 : 0;
  }
  // Vectors there and back, three times ids, one bucket of gradients.
  EXPECT_EQ(collectives, 6);
}

TEST(BuildGraphTest, ErrorsSayWhatWouldWork) {
  Settings settings;
  const auto unknown = FindImplementation("pytorh");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean pytorch?"));
  settings.impl = *FindImplementation("nvidia");
  auto graph = BuildGraph(*FindModel("resnet50"), settings);
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("expected pytorch"));
  settings.impl = *FindImplementation("pytorch");
  settings.batch = -1;
  graph = BuildGraph(Small(), settings);
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("a batch of -1 samples"));
}

TEST(SettingsTest, NamesRoundTrip) {
  EXPECT_EQ(ParsePrecision(Name(Precision::kAmpFp16)), Precision::kAmpFp16);
  EXPECT_EQ(ParseMode(Name(Mode::kInfer)), Mode::kInfer);
  EXPECT_EQ(ParseCudaGraphs("fwd+bwd"), CudaGraphs::kForwardBackward);
  EXPECT_EQ(ParseTorchRelease("1.8"), TorchRelease::kTorch18);
  EXPECT_FALSE(ParsePrecision("fp23"));
}

}  // namespace
}  // namespace stepcast::model
