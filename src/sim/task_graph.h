// Tasks on lanes, what each waits for, and the order in which they can run.
//
// A lane runs its tasks one after another in the order they were added: a host
// thread, a stream, a link. Nothing here knows what a task stands for.
#ifndef STEPCAST_SIM_TASK_GRAPH_H_
#define STEPCAST_SIM_TASK_GRAPH_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"

namespace stepcast::sim {

struct LaneTag {};
struct TaskTag {};
struct RendezvousTag {};
using LaneId = Id<LaneTag>;
using TaskId = Id<TaskTag>;
using RendezvousId = Id<RendezvousTag>;

/// Times are never negative.
struct Task {
  LaneId lane{};
  Duration duration{};
  /// At least so long between the end of the lane's previous task and the
  /// start of this one; without meaning for the first task of a lane.
  Duration gap{};
  /// Never starts before this time.
  Duration release{};
  /// Tasks of one rendezvous, on different lanes, work only once all of them
  /// have started: each ends its own duration after the last start. Invalid for
  /// a task that works alone.
  RendezvousId rendezvous{};
};

/// `after` starts at the earliest `delay` after the end of `before`. A
/// negative delay lets it start so long before that end, but never before
/// `before` activities.
struct Dependency {
  TaskId before{};
  TaskId after{};
  Duration delay{};
  uint8_t kind = 0;  // What kind of wait it is; the caller's numbers.
};

/// Immutable; no task waits for itself, however indirectly.
class TaskGraph {
 public:
  /// Without tasks.
  TaskGraph();
  // In task_graph.cc: the compiler need not make them again for every file.
  TaskGraph(const TaskGraph& other);
  TaskGraph& operator=(const TaskGraph& other);
  TaskGraph(TaskGraph&& other) noexcept;
  TaskGraph& operator=(TaskGraph&& other) noexcept;
  ~TaskGraph();

  const IdVector<TaskId, Task>& tasks() const { return tasks_; }
  uint32_t lane_count() const { return lane_count_; }
  uint32_t rendezvous_count() const { return rendezvous_count_; }

  /// What `task` waits for besides its lane, by `before` and kind.
  std::span<const Dependency> waits(TaskId task) const {
    const uint32_t first = first_wait_[task.value];
    return std::span(waits_).subspan(first,
                                     first_wait_[task.value + 1] - first);
  }
  /// The index of the first of waits() among those of all tasks.
  uint32_t first_wait(TaskId task) const { return first_wait_[task.value]; }
  uint32_t wait_count() const { return static_cast<uint32_t>(waits_.size()); }
  /// The task before it on its lane; invalid for the first.
  TaskId previous(TaskId task) const { return previous_[task.value]; }
  /// The tasks of a rendezvous, by id.
  std::span<const TaskId> members(RendezvousId rendezvous) const {
    const uint32_t first = first_member_[rendezvous.value];
    return std::span(members_).subspan(
        first, first_member_[rendezvous.value + 1] - first);
  }
  /// Of all orders in which every task stands after what it waits for, the
  /// one with the smallest ids first. What waits for a member of a rendezvous
  /// stands after all of them.
  const std::vector<TaskId>& order() const { return order_; }
  /// The member of a rendezvous that stands last in order(); invalid if it has
  /// none.
  TaskId closer(RendezvousId rendezvous) const {
    return closers_[rendezvous.value];
  }

 private:
  friend class TaskGraphBuilder;

  void LinkLanes();
  void LinkWaits(const std::vector<Dependency>& dependencies);
  void LinkRendezvous();

  IdVector<TaskId, Task> tasks_;
  std::vector<TaskId> previous_;   // By task.
  std::vector<Dependency> waits_;  // By `after`.
  std::vector<uint32_t> first_wait_;
  std::vector<TaskId> members_;
  std::vector<uint32_t> first_member_;
  std::vector<TaskId> order_;
  std::vector<TaskId> closers_;
  uint32_t lane_count_ = 0;
  uint32_t rendezvous_count_ = 0;
};

class TaskGraphBuilder {
 public:
  void Reserve(size_t tasks, size_t dependencies);
  LaneId AddLane() { return LaneId{lane_count_++}; }
  RendezvousId AddRendezvous() { return RendezvousId{rendezvous_count_++}; }
  /// After the tasks that the lane already has.
  TaskId AddTask(const Task& task) { return tasks_.push_back(task); }
  /// The same pair may be added twice, and also where the lane alone keeps
  /// `after` after `before`. Tasks may be added later than what names them.
  void AddDependency(const Dependency& dependency) {
    dependencies_.push_back(dependency);
  }

  /// Fails where tasks wait for each other in a cycle, as collectives do that
  /// two ranks start in different order; the message names them by
  /// `describe`.
  Result<TaskGraph> Build(
      const std::function<std::string(TaskId)>& describe) &&;

 private:
  IdVector<TaskId, Task> tasks_;
  std::vector<Dependency> dependencies_;
  uint32_t lane_count_ = 0;
  uint32_t rendezvous_count_ = 0;
};

}  // namespace stepcast::sim

#endif  // STEPCAST_SIM_TASK_GRAPH_H_
