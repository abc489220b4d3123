// Makes tasks in an order in which they could run, then numbers them by lanes.
#include "tests/testing/random_tasks.h"

#include <algorithm>
#include <string>
#include <utility>

namespace stepcast::testing {
namespace {

using sim::TaskId;

// How often a task has a gap, a release time, or a dependency a delay: often
// enough that each decides some starts, seldom enough that others do too.
constexpr uint64_t kGapEvery = 3;
constexpr uint64_t kReleaseEvery = 10;
constexpr uint64_t kDelayEvery = 2;
// One in so many delays is negative: they seldom decide, so there are many.
constexpr uint64_t kNegativeEvery = 2;
// Kinds of dependencies: more than one, so that a mix-up shows.
constexpr uint64_t kKinds = 5;

class Maker {
 public:
  Maker(Rng& rng, const RandomTasksOptions& options)
      : rng_(rng), options_(options) {
    parts_.lanes = options.lanes;
  }

  TaskParts Make() {
    for (uint32_t i = 0; i < options_.events; ++i) {
      if (rng_.OneIn(options_.rendezvous_every)) {
        AddRendezvous();
      } else {
        const auto known = static_cast<uint32_t>(parts_.tasks.size());
        AddTask(static_cast<uint32_t>(rng_.Below(options_.lanes)), {}, known);
      }
    }
    return std::move(parts_);
  }

 private:
  Duration RandomTime() {
    return Duration(rng_.Between(0, options_.longest_ns));
  }

  Duration RandomDelay() {
    const Duration delay = RandomTimeOneIn(kDelayEvery);
    return rng_.OneIn(kNegativeEvery) ? -delay : delay;
  }

  Duration RandomTimeOneIn(uint64_t times) {
    return rng_.OneIn(times) ? RandomTime() : Duration{};
  }

  // A task that may wait for the `known` first ones.
  void AddTask(uint32_t lane, sim::RendezvousId rendezvous, uint32_t known) {
    const TaskId task{static_cast<uint32_t>(parts_.tasks.size())};
    // Releases spread over the time that things take so far, or few would be
    // later than everything else.
    const int64_t events = int64_t{known} / options_.lanes + 1;
    parts_.tasks.push_back({.lane = {lane},
                            .duration = RandomTime(),
                            .gap = RandomTimeOneIn(kGapEvery),
                            .release = events * RandomTimeOneIn(kReleaseEvery),
                            .rendezvous = rendezvous});
    const uint64_t waits =
        known == 0 ? 0 : rng_.Below(options_.max_waits + uint64_t{1});
    for (uint64_t i = 0; i < waits; ++i) {
      const auto back =
          static_cast<uint32_t>(rng_.Below(std::min(known, options_.reach)));
      parts_.dependencies.push_back(
          {.before = TaskId{known - 1 - back},
           .after = task,
           .delay = RandomDelay(),
           .kind = static_cast<uint8_t>(rng_.Below(kKinds))});
    }
  }

  void AddRendezvous() {
    const auto known = static_cast<uint32_t>(parts_.tasks.size());
    const sim::RendezvousId rendezvous{parts_.rendezvous_count++};
    const auto present = rng_.Below(options_.lanes) + 1;
    for (uint32_t lane = 0; lane < present; ++lane) {
      AddTask(lane, rendezvous, known);
    }
  }

  Rng& rng_;
  const RandomTasksOptions& options_;
  TaskParts parts_;
};

/// Numbers the tasks anew: again and again the next of a random lane.
TaskParts MixLanes(Rng& rng, const TaskParts& parts) {
  std::vector<std::vector<uint32_t>> lanes(parts.lanes);
  for (uint32_t i = 0; i < parts.tasks.size(); ++i) {
    lanes[parts.tasks[i].lane.value].push_back(i);
  }
  TaskParts mixed{.lanes = parts.lanes,
                  .rendezvous_count = parts.rendezvous_count};
  std::vector<size_t> taken(parts.lanes, 0);
  std::vector<TaskId> new_ids(parts.tasks.size());
  while (mixed.tasks.size() < parts.tasks.size()) {
    const auto lane = static_cast<size_t>(rng.Below(parts.lanes));
    if (taken[lane] < lanes[lane].size()) {
      const uint32_t old = lanes[lane][taken[lane]++];
      new_ids[old] = TaskId{static_cast<uint32_t>(mixed.tasks.size())};
      mixed.tasks.push_back(parts.tasks[old]);
    }
  }
  for (sim::Dependency item : parts.dependencies) {
    item.before = new_ids[item.before.value];
    item.after = new_ids[item.after.value];
    mixed.dependencies.push_back(item);
  }
  return mixed;
}

}  // namespace

TaskParts RandomTasks(Rng& rng, const RandomTasksOptions& options) {
  TaskParts parts = Maker(rng, options).Make();
  return options.ids_in_order ? parts : MixLanes(rng, parts);
}

Result<sim::TaskGraph> BuildTasks(const TaskParts& parts) {
  sim::TaskGraphBuilder builder;
  builder.Reserve(parts.tasks.size(), parts.dependencies.size());
  for (uint32_t i = 0; i < parts.lanes; ++i) {
    builder.AddLane();
  }
  for (uint32_t i = 0; i < parts.rendezvous_count; ++i) {
    builder.AddRendezvous();
  }
  for (const sim::Task& task : parts.tasks) {
    builder.AddTask(task);
  }
  for (const sim::Dependency& dependency : parts.dependencies) {
    builder.AddDependency(dependency);
  }
  return std::move(builder).Build(
      [](TaskId task) { return "task " + std::to_string(task.value); });
}

}  // namespace stepcast::testing
