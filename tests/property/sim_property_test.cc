// Laws of schedules, over random task graphs.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "sim/simulate.h"
#include "tests/testing/task_sample.h"

namespace stepcast::testing {
namespace {

using sim::Placement;
using sim::Schedule;
using sim::Simulate;
using sim::Task;
using sim::TaskGraph;
using sim::TaskId;

TEST(SimPropertyTest, TasksOfALaneNeverOverlap) {
  ForEachSample([](uint64_t /*seed*/, const TaskSample& sample) {
    const Schedule schedule = Simulate(GraphOf(sample.parts));
    for (const auto& lane : sample.lanes) {
      for (size_t i = 1; i < lane.size(); ++i) {
        ASSERT_LE(schedule.placements[lane[i - 1]].end,
                  schedule.placements[lane[i]].start);
      }
    }
  });
}

TEST(SimPropertyTest, ATaskStartsWithTheLastOfItsCausesNeitherBeforeNorAfter) {
  ForEachSample([](uint64_t /*seed*/, const TaskSample& sample) {
    const Schedule schedule = Simulate(GraphOf(sample.parts));
    for (uint32_t i = 0; i < sample.parts.tasks.size(); ++i) {
      Duration earliest = sample.parts.tasks[i].release;
      for (const Need& need : sample.needs[i]) {
        const Placement& before = schedule.placements[need.before];
        earliest = std::max({earliest, before.run, before.end + need.delay});
      }
      ASSERT_EQ(schedule.placements[TaskId{i}].start, earliest) << i;
    }
  });
}

TEST(SimPropertyTest, ARendezvousRunsFromTheLastStartOfItsMembers) {
  ForEachSample([](uint64_t /*seed*/, const TaskSample& sample) {
    const Schedule schedule = Simulate(GraphOf(sample.parts));
    for (uint32_t i = 0; i < sample.parts.tasks.size(); ++i) {
      const Task& task = sample.parts.tasks[i];
      const Placement& placement = schedule.placements[TaskId{i}];
      Duration last = placement.start;
      if (task.rendezvous.valid()) {
        for (const TaskId member :
             sample.rendezvous_list[task.rendezvous.value]) {
          last = std::max(last, schedule.placements[member].start);
        }
      }
      ASSERT_EQ(placement.run, last) << i;
      ASSERT_EQ(placement.end, last + task.duration) << i;
    }
  });
}

TEST(SimPropertyTest, TheMakespanIsTheLastEndAndAtLeastTheSumOfEveryLane) {
  ForEachSample([](uint64_t /*seed*/, const TaskSample& sample) {
    const Schedule schedule = Simulate(GraphOf(sample.parts));
    Duration last_end{};
    for (const auto& lane : sample.lanes) {
      Duration sum{};
      for (const TaskId task : lane) {
        const Task& item = sample.parts.tasks[task.value];
        sum += item.duration + (task == lane.front() ? Duration{} : item.gap);
        last_end = std::max(last_end, schedule.placements[task].end);
      }
      ASSERT_GE(schedule.makespan, sum);
    }
    ASSERT_EQ(schedule.makespan, last_end);
  });
}

/// A random chain of waits that ends with `task`: its length, and in `first`
/// the task it begins with.
Duration RandomPath(Rng& rng, const TaskSample& sample, TaskId task,
                    TaskId& first) {
  Duration length{};
  Duration delay{};
  for (;;) {
    const Task* item = &sample.parts.tasks[task.value];
    // With a negative delay after it, a task counts less, but not below zero.
    length += std::max(item->duration + delay, Duration{});
    if (item->rendezvous.valid()) {
      task = rng.Pick(sample.rendezvous_list[item->rendezvous.value]);
      item = &sample.parts.tasks[task.value];
    }
    first = task;
    const auto& needs = sample.needs[task.value];
    if (needs.empty()) {
      return length + item->release;
    }
    const Need& need = rng.Pick(needs);
    delay = need.delay;
    task = need.before;
  }
}

TEST(SimPropertyTest, NoPathIsLongerThanTheTimeItHas) {
  ForEachSample([](uint64_t seed, const TaskSample& sample) {
    const Schedule schedule = Simulate(GraphOf(sample.parts));
    Rng rng(seed);
    for (const TaskId task : schedule.placements.ids()) {
      TaskId first{};
      const Duration length = RandomPath(rng, sample, task, first);
      ASSERT_LE(length, schedule.placements[task].end) << task.value;
    }
  });
}

TEST(SimPropertyTest, AWaitAgainstAPathIsRefused) {
  ForEachSample([](uint64_t seed, const TaskSample& sample) {
    Rng rng(seed);
    TaskParts parts = sample.parts;
    const TaskId last{static_cast<uint32_t>(rng.Below(parts.tasks.size()))};
    TaskId first{};
    RandomPath(rng, sample, last, first);
    parts.dependencies.push_back({.before = last, .after = first});
    const auto graph = BuildTasks(parts);
    ASSERT_FALSE(graph);
    ASSERT_NE(graph.error().message.find("dependency cycle: task "),
              std::string::npos);
  });
}

std::vector<Duration> DurationsOf(const TaskParts& parts) {
  std::vector<Duration> durations;
  for (const Task& task : parts.tasks) {
    durations.push_back(task.duration);
  }
  return durations;
}

TEST(SimPropertyTest, ShorteningTasksNeverMakesAnythingLater) {
  ForEachSample([](uint64_t seed, const TaskSample& sample) {
    const TaskGraph graph = GraphOf(sample.parts);
    const Schedule before = Simulate(graph);
    Rng rng(seed);
    std::vector<Duration> durations = DurationsOf(sample.parts);
    for (int i = 0; i < 3; ++i) {
      Duration& duration = durations[rng.Below(durations.size())];
      duration = Duration(rng.Between(0, duration.count()));
    }
    Schedule after;
    Resimulate(graph, durations, after);
    for (const TaskId task : before.placements.ids()) {
      ASSERT_LE(after.placements[task].start, before.placements[task].start);
      ASSERT_LE(after.placements[task].end, before.placements[task].end);
    }
    ASSERT_LE(after.makespan, before.makespan);
  });
}

constexpr int64_t kFactor = 7;

TEST(SimPropertyTest, ScalingAllTimesScalesTheSchedule) {
  ForEachSample([](uint64_t /*seed*/, const TaskSample& sample) {
    Schedule expected = Simulate(GraphOf(sample.parts));
    for (Placement& placement : expected.placements) {
      placement.start *= kFactor;
      placement.run *= kFactor;
      placement.end *= kFactor;
    }
    expected.makespan *= kFactor;
    TaskParts scaled = sample.parts;
    for (Task& task : scaled.tasks) {
      task.duration *= kFactor;
      task.gap *= kFactor;
      task.release *= kFactor;
    }
    for (sim::Dependency& item : scaled.dependencies) {
      item.delay *= kFactor;
    }
    ASSERT_EQ(Simulate(GraphOf(scaled)), expected);
  });
}

TEST(SimPropertyTest, OtherDurationsAreAsGoodAsAnotherGraph) {
  Schedule schedule;  // Of the sample before: nothing of it may shine through.
  ForEachSample([&](uint64_t seed, const TaskSample& sample) {
    const TaskGraph graph = GraphOf(sample.parts);
    Resimulate(graph, DurationsOf(sample.parts), schedule);
    ASSERT_EQ(schedule, Simulate(graph));
    Rng rng(seed);
    TaskParts changed = sample.parts;
    for (Task& task : changed.tasks) {
      task.duration = Duration(rng.Between(0, 1000));
    }
    Resimulate(graph, DurationsOf(changed), schedule);
    ASSERT_EQ(schedule, Simulate(GraphOf(changed)));
  });
}

TEST(SimPropertyTest, TheOrderOfAddingDependenciesDoesNotMatter) {
  ForEachSample([](uint64_t seed, const TaskSample& sample) {
    Rng rng(seed);
    TaskParts shuffled = sample.parts;
    auto& items = shuffled.dependencies;
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[rng.Below(i)]);
    }
    ASSERT_EQ(Simulate(GraphOf(shuffled)), Simulate(GraphOf(sample.parts)));
  });
}

TEST(SimPropertyTest, TheOrderIsTheSmallestByIdsThatIsPossible) {
  ForEachSample([](uint64_t /*seed*/, const TaskSample& sample) {
    const TaskGraph graph = GraphOf(sample.parts);
    // Again and again the first task whose causes are all after us.
    std::vector<bool> placed(graph.tasks().size(), false);
    const auto is_done = [&](TaskId task) {
      const auto rendezvous = sample.parts.tasks[task.value].rendezvous;
      return rendezvous.valid()
                 ? std::ranges::all_of(
                       sample.rendezvous_list[rendezvous.value],
                       [&](TaskId member) { return placed[member.value]; })
                 : placed[task.value];
    };
    for (const TaskId task : graph.order()) {
      uint32_t first = 0;
      while (placed[first] ||
             !std::ranges::all_of(sample.needs[first], [&](const Need& need) {
               return is_done(need.before);
             })) {
        ++first;
      }
      ASSERT_EQ(task.value, first);
      placed[first] = true;
    }
    ASSERT_EQ(graph.order().size(), sample.parts.tasks.size());
  });
}

}  // namespace
}  // namespace stepcast::testing
