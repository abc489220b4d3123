// Walks back from a task over what decided each start.
#include "sim/critical_path.h"

#include <algorithm>

#include "base/check.h"

namespace stepcast::sim {
namespace {

TaskId LastToStart(const TaskGraph& graph, const Schedule& schedule,
                   MeetingId meeting) {
  TaskId last{};
  for (const TaskId member : graph.members(meeting)) {
    if (!last.valid() ||
        schedule.placements[member].start > schedule.placements[last].start) {
      last = member;
    }
  }
  return last;
}

/// What lies between the start of `task` and the end of its blocker, if
/// anything does.
void AddWait(const Placement& placement, TaskId task, Duration begin,
             std::vector<PathStep>& path) {
  PathStep step{.task = task, .begin = begin, .end = placement.start};
  switch (placement.cause) {
    case Cause::kNone:
      return;
    case Cause::kRelease:
      step.kind = PathStep::Kind::kRelease;
      break;
    case Cause::kLane:
      step.kind = PathStep::Kind::kGap;
      break;
    case Cause::kDependency:
      step.kind = PathStep::Kind::kDelay;
      step.dependency = placement.kind;
      break;
  }
  if (step.begin < step.end) {
    path.push_back(step);
  }
}

}  // namespace

std::vector<PathStep> PathTo(const TaskGraph& graph, const Schedule& schedule,
                             TaskId task) {
  CHECK(schedule.placements.size() == graph.tasks().size())
      << schedule.placements.size() << " of " << graph.tasks().size();
  std::vector<PathStep> path;
  Duration end = task.valid() ? schedule.placements[task].end : Duration{};
  while (task.valid()) {
    const Placement* placement = &schedule.placements[task];
    path.push_back({.task = task, .begin = placement->work, .end = end});
    if (placement->start < placement->work) {
      task = LastToStart(graph, schedule, graph.tasks()[task].meeting);
      placement = &schedule.placements[task];
      path.push_back({.task = task,
                      .last_of_meeting = true,
                      .begin = placement->work,
                      .end = placement->work});
    }
    const TaskId blocker = placement->blocker;
    // What waits with a negative delay starts before its blocker ends.
    end = blocker.valid()
              ? std::min(schedule.placements[blocker].end, placement->start)
              : Duration{};
    AddWait(*placement, task, end, path);
    task = blocker;
  }
  std::ranges::reverse(path);
  return path;
}

std::vector<PathStep> CriticalPath(const TaskGraph& graph,
                                   const Schedule& schedule) {
  return PathTo(graph, schedule, schedule.last);
}

}  // namespace stepcast::sim
