// Works out lanes, rendezvous and needs from the parts.
#include "tests/testing/task_sample.h"

#include <utility>

#include "base/check.h"
#include "base/rng.h"

namespace stepcast::testing {
namespace {

RandomTasksOptions OptionsOf(uint64_t seed) {
  // Every other sample is full of ties.
  return {.lanes = 1 + static_cast<uint32_t>(seed % 7),
          .events = 5 + static_cast<uint32_t>(seed % 60),
          .longest_ns = seed % 2 == 0 ? 3 : 1000,
          .ids_in_order = seed % 5 == 0};
}

TaskSample Describe(TaskParts parts) {
  TaskSample sample{.parts = std::move(parts)};
  const std::vector<sim::Task>& tasks = sample.parts.tasks;
  sample.lanes.resize(sample.parts.lanes);
  sample.rendezvous_list.resize(sample.parts.rendezvous_count);
  sample.needs.resize(tasks.size());
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    auto& lane = sample.lanes[tasks[i].lane.value];
    if (!lane.empty()) {
      sample.needs[i].push_back({.before = lane.back(), .delay = tasks[i].gap});
    }
    lane.push_back({i});
    if (tasks[i].rendezvous.valid()) {
      sample.rendezvous_list[tasks[i].rendezvous.value].push_back({i});
    }
  }
  for (const sim::Dependency& item : sample.parts.dependencies) {
    sample.needs[item.after.value].push_back(
        {.before = item.before, .delay = item.delay});
  }
  return sample;
}

}  // namespace

TaskSample SampleOf(uint64_t seed) {
  Rng rng(seed);
  return Describe(RandomTasks(rng, OptionsOf(seed)));
}

sim::TaskGraph GraphOf(const TaskParts& parts) {
  auto graph = BuildTasks(parts);
  CHECK(graph.has_value()) << graph.error().message;
  return *std::move(graph);
}

}  // namespace stepcast::testing
