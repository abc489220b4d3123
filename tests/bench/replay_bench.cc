// How fast a trace becomes a replay, from its file, on one core.
#include <filesystem>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "engine/run/replay.h"
#include "sim/simulate.h"
#include "tests/testing/trace_file.h"
#include "trace/build/build_graph.h"
#include "trace/classify/rules.h"
#include "trace/read/load.h"

namespace stepcast {
namespace {

using testing::TraceFile;

constexpr std::string_view kFile = "stepcast_replay_bench.json";

trace::Loaded Load(const TraceFile& file, const trace::Rules& rules) {
  const std::vector<std::filesystem::path> paths = {file.path()};
  auto loaded = trace::Load(paths, rules, {.threads = 1});
  CHECK(loaded.has_value()) << loaded.error().message;
  return *std::move(loaded);
}

const trace::Rules& BuiltInRules() {
  static const auto* const kRules = new trace::Rules(*trace::Rules::Load());
  return *kRules;
}

// Reads, links and replays all steps.
void LoadAndReplay(benchmark::State& state) {
  const TraceFile file(kFile, testing::DlrmLikeSteps(state.range(0)));
  const trace::Rules& rules = BuiltInRules();
  size_t steps = 0;
  for (auto iteration : state) {
    const trace::Loaded loaded = Load(file, rules);
    const auto job = engine::ReplayJob(loaded.ranks, rules, {.threads = 1});
    CHECK(job.has_value()) << job.error().message;
    steps = job->steps.size();
    benchmark::DoNotOptimize(job->max_abs_pct);
  }
  state.counters["events"] = static_cast<double>(file.events());
  state.counters["steps"] = static_cast<double>(steps);
}

// Reads, links and replays the step of median length.
void LoadAndReplayOne(benchmark::State& state) {
  const TraceFile file(kFile, testing::DlrmLikeSteps(state.range(0)));
  const trace::Rules& rules = BuiltInRules();
  for (auto iteration : state) {
    const trace::Loaded loaded = Load(file, rules);
    Diagnostics diagnostics;
    auto graph = trace::BuildGraph(loaded.ranks, rules, {}, diagnostics);
    CHECK(graph.has_value()) << graph.error().message;
    const auto replay = engine::ReplayStep(
        std::make_shared<const ir::Graph>(*std::move(graph)));
    CHECK(replay.has_value()) << replay.error().message;
    benchmark::DoNotOptimize(replay->ranks.data());
  }
  state.counters["events"] = static_cast<double>(file.events());
}

// A step that was replayed once, with other durations.
void SimulateStepAgain(benchmark::State& state) {
  testing::KinetoOptions options = testing::DlrmLikeSteps(3);
  options.job.tables = static_cast<int>(state.range(0));
  const TraceFile file(kFile, options);
  const trace::Loaded loaded = Load(file, BuiltInRules());
  Diagnostics diagnostics;
  auto graph = trace::BuildGraph(loaded.ranks, BuiltInRules(), {}, diagnostics);
  CHECK(graph.has_value()) << graph.error().message;
  auto replay =
      engine::ReplayStep(std::make_shared<const ir::Graph>(*std::move(graph)));
  CHECK(replay.has_value()) << replay.error().message;
  std::vector<Duration> durations;
  for (const sim::Task& task : replay->result.lowered.tasks.tasks()) {
    durations.push_back(task.duration);
  }
  for (auto iteration : state) {
    Resimulate(replay->result.lowered.tasks, durations,
               replay->result.schedule);
    benchmark::DoNotOptimize(replay->result.schedule.makespan);
  }
  const ir::GraphData& data = replay->result.graph->data();
  state.counters["nodes"] = static_cast<double>(
      data.ops.size() + data.calls.size() + data.activities.size());
  state.counters["tasks"] = static_cast<double>(durations.size());
}

// Wanted: 300 ms for 100,000 events, 1 ms for a step of 5,000 nodes.
BENCHMARK(LoadAndReplay)->Arg(70)->Unit(benchmark::kMillisecond);
BENCHMARK(LoadAndReplayOne)->Arg(70)->Unit(benchmark::kMillisecond);
BENCHMARK(SimulateStepAgain)->Arg(150)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stepcast

BENCHMARK_MAIN();
