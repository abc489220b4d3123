// Walks back from a task over what decided each start.
#include "sim/critical_path.h"

#include <algorithm>

#include "base/check.h"

namespace stepcast::sim {
namespace {

TaskId LastToStart(const TaskGraph& graph, const Schedule& schedule,
                   RendezvousId rendezvous) {
  TaskId last{};
  for (const TaskId member : graph.members(rendezvous)) {
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

/// Appends the work of `task` until `end`, and returns the task whose start let
/// it begin: itself, or the last of its rendezvous.
TaskId AddTask(const TaskGraph& graph, const Schedule& schedule, TaskId task,
               Duration end, std::vector<PathStep>& path) {
  const Placement& placement = schedule.placements[task];
  path.push_back({.task = task, .begin = placement.run, .end = end});
  if (placement.start == placement.run) {
    return task;
  }
  const TaskId last =
      LastToStart(graph, schedule, graph.tasks()[task].rendezvous);
  const Duration run = schedule.placements[last].run;
  path.push_back(
      {.task = last, .last_of_rendezvous = true, .begin = run, .end = run});
  return last;
}

/// Appends, from the start of `task` backwards, the wait in front of it and
/// what came before.
void WalkBack(const TaskGraph& graph, const Schedule& schedule, TaskId task,
              std::vector<PathStep>& path) {
  for (;;) {
    const Placement& placement = schedule.placements[task];
    const TaskId blocker = placement.blocker;
    // What waits with a negative delay starts before its blocker ends.
    const Duration end =
        blocker.valid()
            ? std::min(schedule.placements[blocker].end, placement.start)
            : Duration{};
    AddWait(placement, task, end, path);
    if (!blocker.valid()) {
      return;
    }
    task = AddTask(graph, schedule, blocker, end, path);
  }
}

}  // namespace

std::vector<PathStep> PathToStart(const TaskGraph& graph,
                                  const Schedule& schedule, TaskId task) {
  CHECK(schedule.placements.size() == graph.tasks().size())
      << schedule.placements.size() << " of " << graph.tasks().size();
  std::vector<PathStep> path;
  if (task.valid()) {
    WalkBack(graph, schedule, task, path);
  }
  std::ranges::reverse(path);
  return path;
}

std::vector<PathStep> PathTo(const TaskGraph& graph, const Schedule& schedule,
                             TaskId task) {
  CHECK(schedule.placements.size() == graph.tasks().size())
      << schedule.placements.size() << " of " << graph.tasks().size();
  std::vector<PathStep> path;
  if (task.valid()) {
    const TaskId started =
        AddTask(graph, schedule, task, schedule.placements[task].end, path);
    WalkBack(graph, schedule, started, path);
  }
  std::ranges::reverse(path);
  return path;
}

std::vector<PathStep> CriticalPath(const TaskGraph& graph,
                                   const Schedule& schedule) {
  return PathTo(graph, schedule, schedule.last);
}

}  // namespace stepcast::sim
