// One pass over the tasks in an order in which all causes come first.
//
// This is the inner loop of everything that asks "what if", so it reads flat
// arrays whose indices TaskGraphBuilder has checked once.
#include "sim/simulate.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.h"

namespace stepcast::sim {
namespace {

/// No time at all: earlier than the start of any task.
constexpr Duration kNever{-1};

/// Fills in when `task` starts and why, from the ends of all its causes. The
/// fields are written one by one into their place: a copy of a struct whose
/// parts were just written makes the processor wait for them.
void SetStart(const TaskGraph& graph, const Task& task, TaskId id,
              Placement* placements) {
  TaskId blocker = graph.previous(id);
  Duration start =
      blocker.valid() ? placements[blocker.value].end + task.gap : kNever;
  Cause cause = Cause::kLane;
  uint8_t kind = 0;
  for (const Dependency& wait : graph.waits(id)) {
    const Placement& before = placements[wait.before.value];
    const Duration time = std::max(before.end + wait.delay, before.work);
    if (time > start) {
      start = time;
      blocker = wait.before;
      cause = Cause::kDependency;
      kind = wait.kind;
    }
  }
  if (task.release > start) {
    start = task.release;
    blocker = {};
    cause = task.release.count() > 0 ? Cause::kRelease : Cause::kNone;
    kind = 0;
  }
  Placement& placement = placements[id.value];
  placement.start = start;
  placement.blocker = blocker;
  placement.cause = cause;
  placement.kind = kind;
}

/// Lets the members of a meeting, all of which have a start, work.
template <typename DurationOf>
void Meet(std::span<const TaskId> members, const DurationOf& duration_of,
          Placement* placements) {
  Duration last = kNever;
  for (const TaskId member : members) {
    last = std::max(last, placements[member.value].start);
  }
  for (const TaskId member : members) {
    placements[member.value].work = last;
    placements[member.value].end = last + duration_of(member.value);
  }
}

template <typename DurationOf>
void PlaceAll(const TaskGraph& graph, const DurationOf& duration_of,
              Schedule& schedule) {
  if (schedule.placements.size() != graph.tasks().size()) {
    schedule.placements = IdVector<TaskId, Placement>(graph.tasks().size());
  }
  const Task* const tasks = graph.tasks().items().data();
  Placement* const placements = std::to_address(schedule.placements.begin());
  for (const TaskId id : graph.order()) {
    const Task& task = tasks[id.value];
    SetStart(graph, task, id, placements);
    Placement& placement = placements[id.value];
    if (!task.meeting.valid()) {
      placement.work = placement.start;
      placement.end = placement.start + duration_of(id.value);
    } else if (graph.closer(task.meeting) == id) {
      Meet(graph.members(task.meeting), duration_of, placements);
    }
  }
  schedule.makespan = Duration{};
  schedule.last = {};
  for (const TaskId id : graph.tasks().ids()) {
    const Duration end = placements[id.value].end;
    if (end > schedule.makespan || !schedule.last.valid()) {
      schedule.makespan = end;
      schedule.last = id;
    }
  }
}

}  // namespace

Schedule Simulate(const TaskGraph& graph) {
  Schedule schedule;
  const Task* const tasks = graph.tasks().items().data();
  PlaceAll(
      graph, [=](uint32_t task) { return tasks[task].duration; }, schedule);
  return schedule;
}

void Resimulate(const TaskGraph& graph, std::span<const Duration> durations,
                Schedule& schedule) {
  CHECK(durations.size() == graph.tasks().size())
      << durations.size() << " durations for " << graph.tasks().size();
  PlaceAll(
      graph, [=](uint32_t task) { return durations[task]; }, schedule);
}

}  // namespace stepcast::sim
