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

/// When `task` starts and why, from the ends of all its causes.
Placement Start(const TaskGraph& graph, const Task& task, TaskId id,
                const Placement* placements) {
  Placement placement{.start = kNever};
  const TaskId previous = graph.previous(id);
  if (previous.valid()) {
    placement.start = placements[previous.value].end + task.gap;
    placement.blocker = previous;
    placement.cause = Cause::kLane;
  }
  for (const Dependency& wait : graph.waits(id)) {
    const Duration time = placements[wait.before.value].end + wait.delay;
    if (time > placement.start) {
      placement.start = time;
      placement.blocker = wait.before;
      placement.cause = Cause::kDependency;
      placement.kind = wait.kind;
    }
  }
  if (task.release > placement.start) {
    placement = {
        .start = task.release,
        .cause = task.release.count() > 0 ? Cause::kRelease : Cause::kNone};
  }
  return placement;
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
    Placement& placement = placements[id.value];
    placement = Start(graph, task, id, placements);
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
