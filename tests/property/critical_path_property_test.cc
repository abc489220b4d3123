// Laws of critical paths, over random task graphs.
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "sim/critical_path.h"
#include "sim/simulate.h"
#include "tests/testing/task_sample.h"

namespace stepcast::testing {
namespace {

using sim::CriticalPath;
using sim::PathStep;
using sim::PathTo;
using sim::Placement;
using sim::Schedule;
using sim::Simulate;
using sim::Task;
using sim::TaskGraph;
using sim::TaskId;

/// Whether `next` may start so long after `before` began to work, although that
/// one has not ended.
bool MayStartEarly(const TaskSample& sample, TaskId before, TaskId next,
                   Duration length) {
  const Duration duration = sample.parts.tasks[before.value].duration;
  return std::ranges::any_of(
      sample.parts.dependencies, [&](const sim::Dependency& item) {
        return item.before == before && item.after == next &&
               length == std::max(duration + item.delay, Duration{});
      });
}

/// Checks that `step`, which `next` follows, is as long as the parts say.
void CheckLength(const TaskSample& sample, const PathStep& step,
                 const PathStep* next) {
  const Task& task = sample.parts.tasks[step.task.value];
  const Duration length = step.end - step.begin;
  switch (step.kind) {
    case PathStep::Kind::kTask:
      if (step.last_of_rendezvous) {
        ASSERT_EQ(length, Duration{});
      } else if (next == nullptr || length >= task.duration) {
        ASSERT_EQ(length, task.duration);
      } else {
        ASSERT_TRUE(MayStartEarly(sample, step.task, next->task, length));
      }
      break;
    case PathStep::Kind::kRelease:
      ASSERT_EQ(length, task.release);
      break;
    case PathStep::Kind::kGap:
      ASSERT_EQ(length, task.gap);
      break;
    case PathStep::Kind::kDelay:
      ASSERT_TRUE(std::ranges::any_of(
          sample.parts.dependencies, [&](const sim::Dependency& item) {
            return item.after == step.task && item.delay == length &&
                   item.kind == step.dependency;
          }));
      break;
  }
}

TEST(CriticalPathPropertyTest,
     EveryPathRunsFromZeroToTheEndOfItsTaskWithoutHoles) {
  ForEachSample([](uint64_t /*seed*/, const TaskSample& sample) {
    const TaskGraph graph = GraphOf(sample.parts);
    const Schedule schedule = Simulate(graph);
    for (const TaskId task : schedule.placements.ids()) {
      Duration now{};
      const std::vector<PathStep> path = PathTo(graph, schedule, task);
      for (const PathStep& step : path) {
        ASSERT_EQ(step.begin, now);
        CheckLength(sample, step, &step == &path.back() ? nullptr : &step + 1);
        now = step.end;
      }
      ASSERT_EQ(now, schedule.placements[task].end);
    }
  });
}

TEST(CriticalPathPropertyTest, TheCriticalPathIsAsLongAsTheMakespan) {
  ForEachSample([](uint64_t /*seed*/, const TaskSample& sample) {
    const TaskGraph graph = GraphOf(sample.parts);
    const Schedule schedule = Simulate(graph);
    Duration sum{};
    for (const PathStep& step : CriticalPath(graph, schedule)) {
      sum += step.end - step.begin;
    }
    ASSERT_EQ(sum, schedule.makespan);
  });
}

// Neighbours on the path have to do with each other: the next task runs after,
// waits for or meets the one before.
TEST(CriticalPathPropertyTest,
     TheCriticalPathFollowsLanesDependenciesAndRendezvous) {
  ForEachSample([](uint64_t /*seed*/, const TaskSample& sample) {
    const TaskGraph graph = GraphOf(sample.parts);
    TaskId before{};
    bool met = false;
    for (const PathStep& step : CriticalPath(graph, Simulate(graph))) {
      if (step.kind != PathStep::Kind::kTask) {
        continue;
      }
      const Task& task = sample.parts.tasks[step.task.value];
      if (met) {
        ASSERT_EQ(task.rendezvous, sample.parts.tasks[before.value].rendezvous);
      } else if (before.valid()) {
        const auto& needs = sample.needs[step.task.value];
        ASSERT_TRUE(std::ranges::any_of(
            needs, [&](const Need& need) { return need.before == before; }));
      }
      before = step.task;
      met = step.last_of_rendezvous;
    }
  });
}

TEST(CriticalPathPropertyTest, ThreadsDoNotChangeTheOutcome) {
  struct Outcome {
    Schedule schedule{};
    std::vector<PathStep> path{};
    bool operator==(const Outcome&) const = default;
  };
  std::array<std::vector<Outcome>, 2> outcomes;
  for (const size_t run : {size_t{0}, size_t{1}}) {
    outcomes[run].resize(kSampleSeeds);
    ParallelFor(kSampleSeeds, run == 0 ? 1 : 8, [&](size_t seed) {
      const TaskGraph graph = GraphOf(SampleOf(seed).parts);
      Outcome& outcome = outcomes[run][seed];
      outcome.schedule = Simulate(graph);
      outcome.path = CriticalPath(graph, outcome.schedule);
    });
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
}

// What decides seldom in real steps must not be seldom in these tests.
TEST(CriticalPathPropertyTest, RandomTasksKnowEveryKindOfStepAndCause) {
  std::set<sim::Cause> causes;
  std::set<PathStep::Kind> kinds;
  size_t late_members = 0;
  size_t early_starts = 0;
  size_t out_of_order = 0;
  ForEachSample([&](uint64_t /*seed*/, const TaskSample& sample) {
    const TaskGraph graph = GraphOf(sample.parts);
    const Schedule schedule = Simulate(graph);
    for (const Placement& placement : schedule.placements) {
      causes.insert(placement.cause);
    }
    for (const PathStep& step : CriticalPath(graph, schedule)) {
      kinds.insert(step.kind);
      const bool is_task = step.kind == PathStep::Kind::kTask;
      if (step.last_of_rendezvous) {
        ++late_members;
      } else if (is_task && step.end < schedule.placements[step.task].end) {
        ++early_starts;
      }
    }
    out_of_order += std::ranges::is_sorted(graph.order()) ? 0 : 1;
  });
  EXPECT_EQ(causes.size(), 4);
  EXPECT_EQ(kinds.size(), 4);
  EXPECT_GE(late_members, kSampleSeeds / 10);
  EXPECT_GE(early_starts, kSampleSeeds / 10);
  EXPECT_GE(out_of_order, kSampleSeeds / 2);
}

}  // namespace
}  // namespace stepcast::testing
