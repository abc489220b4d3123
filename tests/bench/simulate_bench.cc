// How fast tasks are linked, simulated and explained on one core.
#include <algorithm>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/rng.h"
#include "sim/critical_path.h"
#include "sim/simulate.h"
#include "tests/testing/random_tasks.h"

namespace stepcast {
namespace {

using sim::RendezvousId;
using sim::TaskId;
using testing::TaskParts;

constexpr uint32_t kRanks = 8;
// A rank has a host thread and two streams.
constexpr uint32_t kLanesOfARank = 3;
// How many kernels lie between two collectives, about as in a DLRM step.
constexpr uint32_t kKernelsOfACollective = 50;

/// Adds one rank of a training job: an op and a launch on the host and a kernel
/// on a stream, again and again, with a collective on the other stream and a
/// sync every occasionally.
void AddRank(Rng& rng, uint32_t rank, size_t tasks, TaskParts& parts) {
  const auto add = [&](uint32_t lane, int64_t least_ns,
                       RendezvousId rendezvous) {
    parts.tasks.push_back(
        {.lane = {rank * kLanesOfARank + lane},
         .duration = Duration(least_ns + rng.Between(0, 5000)),
         .gap = Duration(lane == 0 ? 0 : 1000),
         .rendezvous = rendezvous});
    return TaskId{static_cast<uint32_t>(parts.tasks.size() - 1)};
  };
  const auto wait = [&](TaskId before, TaskId after, int64_t delay_ns) {
    parts.dependencies.push_back(
        {.before = before, .after = after, .delay = Duration(delay_ns)});
  };
  const size_t end = parts.tasks.size() + tasks;
  for (uint32_t i = 1; parts.tasks.size() + 5 <= end; ++i) {
    add(0, 2000, {});
    const TaskId launch = add(0, 5000, {});
    const TaskId kernel = add(1, 3000, {});
    wait(launch, kernel, 4000);
    if (i % kKernelsOfACollective == 0) {
      const RendezvousId rendezvous{i / kKernelsOfACollective - 1};
      const TaskId collective = add(2, 50'000, rendezvous);
      wait(kernel, collective, 0);
      const TaskId sync = add(0, 1000, {});
      wait(collective, sync, 0);
    }
  }
}

/// Ranks one after another, as from one trace per rank, so that the order of
/// ids differs from the order in time.
TaskParts TrainingTasks(size_t tasks) {
  Rng rng(1);
  TaskParts parts{.lanes = kRanks * kLanesOfARank};
  parts.tasks.reserve(tasks);
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    AddRank(rng, rank, tasks / kRanks, parts);
  }
  for (const sim::Task& task : parts.tasks) {
    if (task.rendezvous.valid()) {
      parts.rendezvous_count =
          std::max(parts.rendezvous_count, task.rendezvous.value + 1);
    }
  }
  return parts;
}

/// Waits without any pattern: the worst case for caches and branch prediction.
TaskParts AnyTasks(size_t tasks) {
  Rng rng(1);
  return testing::RandomTasks(rng, {.lanes = 24,
                                    .events = static_cast<uint32_t>(tasks),
                                    .rendezvous_every = 1000,
                                    .reach = 1000});
}

sim::TaskGraph Build(const TaskParts& parts) {
  auto graph = testing::BuildTasks(parts);
  CHECK(graph.has_value()) << graph.error().message;
  return *std::move(graph);
}

using MakeParts = TaskParts (*)(size_t);

void CountTasks(benchmark::State& state, const TaskParts& parts) {
  const auto tasks = static_cast<double>(parts.tasks.size());
  state.counters["tasks"] = tasks;
  state.counters["ns_per_task"] = benchmark::Counter(
      tasks * 1e-9, benchmark::Counter::kIsIterationInvariantRate |
                        benchmark::Counter::kInvert);
}

void BuildOnly(benchmark::State& state, MakeParts make) {
  const TaskParts parts = make(static_cast<size_t>(state.range(0)));
  for ([[maybe_unused]] auto iteration : state) {
    benchmark::DoNotOptimize(Build(parts).order().data());
  }
  CountTasks(state, parts);
}

void SimulateWithPath(benchmark::State& state, MakeParts make) {
  const TaskParts parts = make(static_cast<size_t>(state.range(0)));
  const sim::TaskGraph graph = Build(parts);
  for ([[maybe_unused]] auto iteration : state) {
    const sim::Schedule schedule = Simulate(graph);
    benchmark::DoNotOptimize(CriticalPath(graph, schedule).data());
  }
  CountTasks(state, parts);
}

void BuildAndSimulateWithPath(benchmark::State& state, MakeParts make) {
  const TaskParts parts = make(static_cast<size_t>(state.range(0)));
  for ([[maybe_unused]] auto iteration : state) {
    const sim::TaskGraph graph = Build(parts);
    const sim::Schedule schedule = Simulate(graph);
    benchmark::DoNotOptimize(CriticalPath(graph, schedule).data());
  }
  CountTasks(state, parts);
}

void SimulateAgain(benchmark::State& state, MakeParts make) {
  const TaskParts parts = make(static_cast<size_t>(state.range(0)));
  const sim::TaskGraph graph = Build(parts);
  std::vector<Duration> durations;
  for (const sim::Task& task : parts.tasks) {
    durations.push_back(task.duration);
  }
  sim::Schedule schedule;
  for ([[maybe_unused]] auto iteration : state) {
    Resimulate(graph, durations, schedule);
    benchmark::DoNotOptimize(schedule.makespan);
  }
  CountTasks(state, parts);
}

// Wanted: 250 ms for a million tasks with their path; 1 ms for a step of 5,000.
constexpr int64_t kMillion = 1'000'000;
constexpr int64_t kStep = 5'000;

#define MILLION(benchmark_function, name, make)     \
  BENCHMARK_CAPTURE(benchmark_function, name, make) \
      ->Arg(kMillion)                               \
      ->Unit(benchmark::kMillisecond)
MILLION(BuildOnly, Training, TrainingTasks);
MILLION(SimulateWithPath, Training, TrainingTasks);
MILLION(BuildAndSimulateWithPath, Training, TrainingTasks);
MILLION(BuildOnly, Any, AnyTasks);
MILLION(SimulateWithPath, Any, AnyTasks);
MILLION(BuildAndSimulateWithPath, Any, AnyTasks);
#undef MILLION

BENCHMARK_CAPTURE(SimulateAgain, Training, TrainingTasks)
    ->Arg(kStep)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(SimulateAgain, Any, AnyTasks)
    ->Arg(kStep)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stepcast

BENCHMARK_MAIN();
