// Small task graphs with names and integer microseconds, for tests.
#ifndef STEPCAST_SIM_TASKS_TESTING_H_
#define STEPCAST_SIM_TASKS_TESTING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sim/task_graph.h"

namespace stepcast::sim {

constexpr Duration Us(int64_t count) {
  return std::chrono::microseconds(count);
}

/// What a test says of a task besides its name, lane and duration.
struct TaskOptions {
  int64_t gap_us = 0;
  int64_t release_us = 0;
  RendezvousId rendezvous{};
};

/// A builder that knows what its tasks are called.
class NamedTasks {
 public:
  LaneId AddLane() { return builder_.AddLane(); }
  RendezvousId AddRendezvous() { return builder_.AddRendezvous(); }

  TaskId Add(std::string name, LaneId lane, int64_t duration_us,
             const TaskOptions& options = {}) {
    names_.push_back(std::move(name));
    return builder_.AddTask({.lane = lane,
                             .duration = Us(duration_us),
                             .gap = Us(options.gap_us),
                             .release = Us(options.release_us),
                             .rendezvous = options.rendezvous});
  }

  void Wait(TaskId before, TaskId after, int64_t delay_us = 0,
            uint8_t kind = 0) {
    builder_.AddDependency({.before = before,
                            .after = after,
                            .delay = Us(delay_us),
                            .kind = kind});
  }

  Result<TaskGraph> TryBuild() && {
    return std::move(builder_).Build(
        [this](TaskId task) { return names_[task.value]; });
  }

  TaskGraph Build() && {
    auto graph = std::move(*this).TryBuild();
    CHECK(graph.has_value()) << graph.error().message;
    return *std::move(graph);
  }

 private:
  TaskGraphBuilder builder_;
  std::vector<std::string> names_;
};

}  // namespace stepcast::sim

#endif  // STEPCAST_SIM_TASKS_TESTING_H_
