// Random task graphs without cycles, for property tests and benchmarks.
#ifndef STEPCAST_TESTS_TESTING_RANDOM_TASKS_H_
#define STEPCAST_TESTS_TESTING_RANDOM_TASKS_H_

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "sim/task_graph.h"

namespace stepcast::testing {

/// What goes into a builder. Ids are places in `tasks`.
struct TaskParts {
  uint32_t lanes = 0;
  uint32_t rendezvous_count = 0;
  std::vector<sim::Task> tasks{};
  std::vector<sim::Dependency> dependencies{};
};

struct RandomTasksOptions {
  uint32_t lanes = 4;
  /// Things that happen one after another: a task, or a rendezvous of several.
  uint32_t events = 40;
  /// One in so many events is a rendezvous.
  uint32_t rendezvous_every = 6;
  /// The most dependencies a task has.
  uint32_t max_waits = 3;
  /// How many tasks back, at most, a dependency reaches.
  uint32_t reach = 40;
  /// The longest duration, delay or gap. Small ones make ties.
  int64_t longest_ns = 1000;
  /// Whether ids follow the order in which things happen. Else lanes take turns
  /// at random, so that tasks wait for some with larger ids.
  bool ids_in_order = false;
};

TaskParts RandomTasks(Rng& rng, const RandomTasksOptions& options);

/// The parts as a graph, or why not.
Result<sim::TaskGraph> BuildTasks(const TaskParts& parts);

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_RANDOM_TASKS_H_
