// A step that was recorded on two GPUs, taken from each to the other.
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/diagnostics.h"
#include "scenario/find_machine.h"
#include "scenario/resolve.h"
#include "tests/shared/shared_traces.h"
#include "trace/build/build_graph.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::whatif {
namespace {

// The goal, of the sum over kernels.
constexpr double kLargestError = 0.15;

constexpr std::string_view kH100 = "h100-sxm-80gb";
constexpr std::string_view kMi300 = "mi300x";

Result<Case> LoadStep(const std::string& name, std::string_view gpu) {
  const trace::Loaded loaded = view::LoadTraces(
      {"small/tracelens_" + name + "_bert_small_inference.json.gz"});
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(
      ir::Graph graph,
      trace::BuildGraph(loaded.ranks, view::BuiltInRules(), {}, diagnostics));
  ASSIGN_OR_RETURN(engine::Machine machine,
                   scenario::MachineOfSteps(gpu, "", graph.data()));
  return CaseOfTrace(std::make_shared<const ir::Graph>(std::move(graph)),
                     std::move(machine), {});
}

double KernelUs(const Case& subject) {
  double sum = 0;
  for (const EditedActivity& activity : subject.times.activities) {
    sum += activity.duration / 1e3;
  }
  return sum;
}

TEST(OtherGpuTest, BertTakesAsLongAsItDidThere) {
  view::SkipWithoutTraces();
  if (IsSkipped()) {
    return;
  }
  const auto h100 = LoadStep("h100", kH100);
  const auto mi300 = LoadStep("mi300", kMi300);
  ASSERT_TRUE(h100) << h100.error().message;
  ASSERT_TRUE(mi300) << mi300.error().message;
  scenario::Resolver resolver;
  const auto error = [&](const Case& from, std::string_view gpu,
                         const Case& truth) {
    const auto change = ParseChange("gpu=" + std::string(gpu));
    CHECK(change) << change.error().message;
    const auto changed = Apply(from, {&*change, 1}, resolver);
    CHECK(changed) << changed.error().message;
    return std::abs(KernelUs(changed->after) / KernelUs(truth) - 1);
  };
  EXPECT_LE(error(*h100, kMi300, *mi300), kLargestError);
  EXPECT_LE(error(*mi300, kH100, *h100), kLargestError);
}

}  // namespace
}  // namespace stepcast::whatif
