// The chain of tasks and waits that made a schedule as long as it is.
#ifndef STEPCAST_SIM_CRITICAL_PATH_H_
#define STEPCAST_SIM_CRITICAL_PATH_H_

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "sim/simulate.h"
#include "sim/task_graph.h"

namespace stepcast::sim {

/// A stretch of the path.
struct PathStep {
  enum class Kind : uint8_t {
    /// `task` was active: until its end, or until the next step's task
    /// started, where a dependency let that one start earlier.
    kTask,
    kRelease,  // `task` had its release time to wait for.
    kGap,      // The lane's gap before `task`.
    kDelay,    // The delay of the dependency of `task` that came last.
  };
  Kind kind = Kind::kTask;
  TaskId task{};
  uint8_t dependency = 0;  // For kDelay: the kind of the dependency.
  /// For kTask: the next step's task, of the same rendezvous, waited for
  /// `task`, whose start let the rendezvous begin. Such a step has no length.
  bool last_of_rendezvous = false;
  Duration begin{};
  Duration end{};

  friend bool operator==(const PathStep&, const PathStep&) = default;
};

/// From time zero to the end of `task`, without holes; steps of no length are
/// left out except tasks. From a task that waited for others of its rendezvous
/// the path leads back to the one that started last, the smallest by id.
std::vector<PathStep> PathTo(const TaskGraph& graph, const Schedule& schedule,
                             TaskId task);

/// From time zero to the start of `task`, likewise: what a member of a
/// rendezvous waits for there is not part of it.
std::vector<PathStep> PathToStart(const TaskGraph& graph,
                                  const Schedule& schedule, TaskId task);

/// The path to the last task: as long as the makespan. Empty for a graph
/// without tasks.
std::vector<PathStep> CriticalPath(const TaskGraph& graph,
                                   const Schedule& schedule);

}  // namespace stepcast::sim

#endif  // STEPCAST_SIM_CRITICAL_PATH_H_
