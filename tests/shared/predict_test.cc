// Every recorded execution trace can be predicted.
#include "engine/run/predict.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/model_store.h"
#include "cost/overheads/overhead_table.h"
#include "hw/device.h"
#include "tests/shared/shared_traces.h"
#include "trace/build/build_graph.h"

namespace stepcast::view {
namespace {

struct PredictedTrace {
  std::vector<std::string> paths{};
  size_t ops = 0;  // Of one step of its first rank.
};

void PrintTo(const PredictedTrace& trace, std::ostream* out) {
  *out << trace.paths.front();
}

// Ops are counted in the files: those between two marks of the profiler.
const PredictedTrace kPredictedTraces[] = {
    {.paths = {"et_schemas/resnet50_1.0.3.json.gz"}, .ops = 4782},
    {.paths = {"et_schemas/resnet50_1.1.1.json.gz"}, .ops = 4782},
    {.paths = {"et_schemas/resnet50_2gpu_1.1.0.json.gz"}, .ops = 4782},
    {.paths = {"et_schemas/gpt2_1.1.0.json.gz"}, .ops = 27149},
    {.paths = {"et_schemas/pt2_1.1.1.json.gz"}, .ops = 7},
    {.paths = {"et_schemas/resnet50_ddp_rank0_1.0.2.json.gz",
               "et_schemas/resnet50_ddp_rank1_1.0.2.json.gz"},
     .ops = 4786},
    {.paths = {"chakra_et/chakra_1.0.1.et.gz"}},
    {.paths = {"chakra_et/chakra_1.1.0.et.gz"}},
    {.paths = {"linear_param_2080Ti/et.json.gz"}},
    {.paths = {"resnet18_param_2080Ti/et.json.gz"}},
    {.paths = {"small/hta_simple_add_et.json.gz"}},
    {.paths = {"dlrm_param_8xV100/et"}},
    {.paths = {"dlrm_param_8xV100/linked_reference"}},
};

class SharedPredictTest : public ::testing::TestWithParam<PredictedTrace> {
 protected:
  void SetUp() override { SkipWithoutTraces(); }
};

size_t OpsOfFirstRank(const ir::GraphData& data) {
  return static_cast<size_t>(
      std::ranges::count_if(data.ops, [&](const ir::Op& op) {
        return op.kind == ir::OpKind::kOp &&
               data.threads[op.thread].rank == ir::RankId{0};
      }));
}

TEST_P(SharedPredictTest, AnExecutionTraceHasAStepTime) {
  Diagnostics diagnostics;
  auto graph = trace::BuildGraph(LoadTraces(GetParam().paths).ranks,
                                 BuiltInRules(), {}, diagnostics);
  ASSERT_TRUE(graph) << graph.error().message;
  if (GetParam().ops > 0) {
    EXPECT_EQ(OpsOfFirstRank(graph->data()), GetParam().ops);
  }
  cost::ModelStore store;
  const auto models =
      store.Kernels(MakeNamed("gpu", *hw::FindDevice("a100-sxm-80gb")));
  ASSERT_TRUE(models);
  const cost::OverheadTable overheads(*cost::LoadOverheads("shared"));
  const auto prediction = engine::Predict(
      {.graph = std::make_shared<const ir::Graph>(*std::move(graph)),
       .models = *models,
       .overheads = &overheads},
      {});
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_GT(prediction->step, Duration{});
}

INSTANTIATE_TEST_SUITE_P(All, SharedPredictTest,
                         ::testing::ValuesIn(kPredictedTraces));

}  // namespace
}  // namespace stepcast::view
