// The ranks' steps of TorchRec, with tables as the planner assigns them,
// against the trace of a DLRM on 8 V100s: the same ops on both threads, and the
// same products, lookups, copies and collectives. Skipped where the trace is
// absent.
#include <filesystem>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "model/build_graph.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "model/tables/sharding.h"
#include "tests/workload/listing.h"
#include "trace/build/build_graph.h"
#include "trace/classify/rules.h"
#include "trace/read/load.h"

namespace stepcast::model {
namespace {

// What the trace's folder says of the model.
constexpr std::string_view kModel = R"(
batch = 16
dense_features = 13
bottom_mlp = [256, 128, 16]
top_mlp = [512, 512, 256, 1]
top_input = 367
optimizer = "adagrad"
embedding_dim = 16
table_rows = [40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 40000000,
              3067956, 405282, 10, 2209, 11938, 155, 4, 976, 14, 40000000,
              40000000, 40000000, 590152, 12973, 108, 36]
pooling = [3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27,
           10, 3, 1, 1]
)";

// The trace's ops without those of the data loader, which launch nothing.
bool InLoader(const ir::Graph& graph, ir::OpId op) {
  for (; op.valid(); op = graph.data().ops[op].parent) {
    if (graph.text(graph.data().ops[op].name).starts_with("enumerate(")) {
      return true;
    }
  }
  return false;
}

// aten::resolve_conj calls no other op. Times are integer microseconds, so that
// on ranks 4 and 5 the next one, which took none, seems to be inside of it.
bool Contains(const ir::Graph& graph, const ir::Op& op) {
  return op.kind == ir::OpKind::kOp &&
         graph.text(op.name) != "aten::resolve_conj";
}

std::vector<std::string> Names(const ir::Graph& graph, ir::ThreadRole role) {
  const ir::GraphData& data = graph.data();
  std::vector<std::string> names;
  for (const ir::OpId id : data.ops.ids()) {
    bool top = data.ops[id].kind == ir::OpKind::kOp;
    for (ir::OpId at = data.ops[id].parent; at.valid();
         at = data.ops[at].parent) {
      top = top && !Contains(graph, data.ops[at]);
    }
    if (top && data.threads[data.ops[id].thread].role == role &&
        !InLoader(graph, id)) {
      names.emplace_back(graph.text(data.ops[id].name));
    }
  }
  return names;
}

// Activities whose shape the trace gives in full, "op: shape".
std::vector<std::string> Activities(const ir::Graph& graph) {
  std::vector<std::string> lines;
  for (const ListedOp& op : ListOps(graph)) {
    for (ir::KernelShape shape : op.activities) {
      if (auto* const bag = std::get_if<ir::EmbeddingBag>(&shape)) {
        // What a trace does not record.
        *bag = {.tables = bag->tables,
                .rows = bag->rows,
                .dim = bag->dim,
                .batch = bag->batch,
                .lookups = bag->lookups,
                .dtype = bag->dtype,
                .pass = bag->pass,
                .update = bag->update,
                .part = bag->part};
      } else if (auto* const collective = std::get_if<ir::Collective>(&shape)) {
        collective->send_splits.clear();
        collective->receive_splits.clear();
      } else if (auto* const gemm = std::get_if<ir::Gemm>(&shape)) {
        gemm->transpose_a = gemm->transpose_b = false;  // Vectors have none.
      } else if (!std::holds_alternative<ir::Copy>(shape)) {
        continue;
      }
      lines.push_back(op.name + ": " + ir::ShapeText(shape));
    }
  }
  return lines;
}

class TorchrecStepsTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(trace_)) {
      GTEST_SKIP() << "no trace " << trace_;
    }
    const auto rules = trace::Rules::Load();
    ASSERT_TRUE(rules);
    const std::filesystem::path paths[] = {trace_};
    const auto loaded = trace::Load(paths, *rules);
    ASSERT_TRUE(loaded) << loaded.error().message;
    Diagnostics diagnostics;
    auto recorded = trace::BuildGraph(loaded->ranks, *rules, {}, diagnostics);
    ASSERT_TRUE(recorded) << recorded.error().message;
    recorded_ = *std::move(recorded);
    const auto model = ParseModel(kModel, "model.toml", {});
    ASSERT_TRUE(model) << model.error().message;
    Settings settings;
    settings.impl = *model::FindImplementation("torchrec");
    const auto shares = ShareTables(*model, settings, 8);
    ASSERT_TRUE(shares) << shares.error().message;
    ASSERT_EQ(shares->size(), 8u);
    const RankPlan& plan = (*shares)[static_cast<size_t>(GetParam())].plan;
    auto built = BuildRankGraph(*model, settings, plan);
    ASSERT_TRUE(built) << built.error().message;
    built_ = *std::move(built);
  }

  std::filesystem::path trace_ =
      std::filesystem::path(STEPCAST_SHARED_DATA) /
      "traces/dlrm_param_8xV100/kineto" /
      ("rank" + std::to_string(GetParam()) + ".json.gz");
  Result<ir::Graph> recorded_{tl::unexpect, Error{}};
  Result<ir::Graph> built_{tl::unexpect, Error{}};
};

// One node of the replicated tables' DDP runs on the main thread there; no
// other op differs.
TEST_P(TorchrecStepsTest, OpsAreTheSame) {
  const std::string difference =
      Difference(Names(*recorded_, ir::ThreadRole::kMain),
                 Names(*built_, ir::ThreadRole::kMain));
  EXPECT_TRUE(difference.ends_with("torch::autograd::AccumulateGrad\n") &&
              difference.find('\n') + 1 == difference.size())
      << difference;
  EXPECT_EQ(Difference(Names(*recorded_, ir::ThreadRole::kAutograd),
                       Names(*built_, ir::ThreadRole::kAutograd)),
            "");
}

TEST_P(TorchrecStepsTest, ProductsLookupsCopiesAndCollectivesAreTheSame) {
  EXPECT_EQ(Difference(Activities(*recorded_), Activities(*built_)), "");
}

INSTANTIATE_TEST_SUITE_P(Ranks, TorchrecStepsTest, ::testing::Range(0, 8));

}  // namespace
}  // namespace stepcast::model
