// When each task of a graph runs.
#ifndef STEPCAST_SIM_SIMULATE_H_
#define STEPCAST_SIM_SIMULATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "sim/task_graph.h"

namespace stepcast::sim {

/// What decided when a task started.
enum class Cause : uint8_t {
  kNone,        // Starts at time zero.
  kRelease,     // Its own release time.
  kLane,        // The task before it on its lane, and the gap between them.
  kDependency,  // Another task, by a dependency.
};

struct Placement {
  Duration start{};
  /// When it began to work: after `start` for a member of a rendezvous that had
  /// to wait for others.
  Duration run{};
  Duration end{};
  TaskId blocker{};  // For kLane and kDependency.
  Cause cause = Cause::kNone;
  uint8_t kind = 0;  // Of the dependency.

  friend bool operator==(const Placement&, const Placement&) = default;
};

struct Schedule {
  IdVector<TaskId, Placement> placements;
  Duration makespan{};
  TaskId last{};  // The first by id of those that end at the makespan.

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// Every task as early as can be. Of several causes for a start at the same
/// time, the lane wins, then the dependency of the smallest `before`.
Schedule Simulate(const TaskGraph& graph);

/// The same with other durations, one a task; reuses the memory of `schedule`.
void Resimulate(const TaskGraph& graph, std::span<const Duration> durations,
                Schedule& schedule);

/// Times other than those a graph was built with.
struct TaskTimes {
  std::vector<Duration> durations;  // One a task, as are the next two.
  std::vector<Duration> gaps;
  std::vector<Duration> releases;
  /// One a dependency: those of each task in the order of waits(), task by
  /// task.
  std::vector<Duration> delays;
  /// One a rendezvous: 1 where its members no longer wait for each other.
  std::vector<char> apart;
};

/// As a delay: the dependency is not waited for at all.
inline constexpr Duration kNoWait = Duration::min();

/// Those of the graph itself.
TaskTimes TimesOf(const TaskGraph& graph);

/// Simulates with all times given. Waits may go but none may come, so the order
/// of the graph still holds.
void SimulateWith(const TaskGraph& graph, const TaskTimes& times,
                  Schedule& schedule);

}  // namespace stepcast::sim

#endif  // STEPCAST_SIM_SIMULATE_H_
