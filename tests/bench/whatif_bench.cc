// How fast changes of a recorded step are answered, from its file and one after
// another, on one core.
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "tests/testing/trace_file.h"
#include "trace/build/build_graph.h"
#include "trace/classify/rules.h"
#include "trace/read/load.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast {
namespace {

using testing::TraceFile;

whatif::Case LoadCase(const TraceFile& file) {
  const auto rules = trace::Rules::Load();
  CHECK(rules.has_value()) << rules.error().message;
  const std::vector<std::filesystem::path> paths = {file.path()};
  const auto loaded = trace::Load(paths, *rules, {.threads = 1});
  CHECK(loaded.has_value()) << loaded.error().message;
  Diagnostics diagnostics;
  auto graph = trace::BuildGraph(loaded->ranks, *rules, {}, diagnostics);
  CHECK(graph.has_value()) << graph.error().message;
  auto machine = scenario::MachineOfSteps("v100-sxm-16gb", "", graph->data());
  CHECK(machine.has_value()) << machine.error().message;
  auto made =
      whatif::CaseOfTrace(std::make_shared<const ir::Graph>(*std::move(graph)),
                          *std::move(machine), {.samples = 100});
  CHECK(made.has_value()) << made.error().message;
  return *std::move(made);
}

// About 100,000 events: in 70 steps, as recorded jobs have them, or in one.
TraceFile MakeFile(int64_t steps) {
  testing::KinetoOptions options = testing::DlrmLikeSteps(steps);
  if (steps == 1) {
    options.job.tables = 3300;
  }
  return TraceFile("stepcast_whatif_bench.json", options);
}

whatif::Change ChangeOf(std::string_view text) {
  auto change = whatif::ParseChange(text);
  CHECK(change.has_value()) << change.error().message;
  return *std::move(change);
}

// Reads a trace and answers one change, interval and account included.
void LoadAndAnswer(benchmark::State& state) {
  const TraceFile file = MakeFile(state.range(0));
  const whatif::Change change = ChangeOf("gpu=a100-sxm-80gb");
  for (auto iteration : state) {
    scenario::Resolver resolver;
    const whatif::Case before = LoadCase(file);
    const auto changed = whatif::Apply(before, {&change, 1}, resolver);
    CHECK(changed.has_value()) << changed.error().message;
    benchmark::DoNotOptimize(changed->delta.step);
  }
  state.counters["events"] = static_cast<double>(file.events());
}

// The step time under one change of a batch, the trace being there.
void AnswerOne(benchmark::State& state, std::string_view text) {
  const TraceFile file = MakeFile(state.range(0));
  const whatif::Case before = LoadCase(file);
  const whatif::Change change = ChangeOf(text);
  cost::ModelStore store;
  whatif::StepBatch batch(before);
  for (auto iteration : state) {
    const auto step = batch.StepWith({&change, 1}, store);
    CHECK(step.has_value()) << step.error().message;
    benchmark::DoNotOptimize(*step);
  }
  state.counters["tasks"] =
      static_cast<double>(before.result.lowered.origins.size());
}

// Wanted: 500 ms with loading, 5 ms each in a batch.
BENCHMARK(LoadAndAnswer)->Arg(70)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AnswerOne, scale_op, "scale-op=gemm=0.5")
    ->Arg(70)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AnswerOne, drop_op, "drop-op=aten::relu")
    ->Arg(70)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AnswerOne, remove_sync, "remove-sync")
    ->Arg(70)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AnswerOne, gpu, "gpu=a100-sxm-80gb")
    ->Arg(70)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AnswerOne, scale_overhead, "scale-overhead=t2=0.5")
    ->Arg(70)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepcast

BENCHMARK_MAIN();
