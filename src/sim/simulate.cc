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

/// The graph's own times, with durations from elsewhere.
template <typename DurationOf>
struct OwnTimes {
  const Task* tasks = nullptr;
  DurationOf duration_of;

  Duration duration(uint32_t task) const { return duration_of(task); }
  Duration gap(uint32_t task) const { return tasks[task].gap; }
  Duration release(uint32_t task) const { return tasks[task].release; }
  static Duration delay(const Dependency& wait, uint32_t /*place*/) {
    return wait.delay;
  }
  static constexpr bool ignores(Duration /*delay*/) { return false; }
  static constexpr bool apart(RendezvousId /*rendezvous*/) { return false; }
};

/// All times from elsewhere.
struct OtherTimes {
  const TaskTimes* times = nullptr;

  Duration duration(uint32_t task) const { return times->durations[task]; }
  Duration gap(uint32_t task) const { return times->gaps[task]; }
  Duration release(uint32_t task) const { return times->releases[task]; }
  Duration delay(const Dependency& /*wait*/, uint32_t place) const {
    return times->delays[place];
  }
  static bool ignores(Duration delay) { return delay == kNoWait; }
  bool apart(RendezvousId rendezvous) const {
    return times->apart[rendezvous.value] != 0;
  }
};

/// Fills in when `task` starts and why, from the ends of all its causes. The
/// fields are written one by one into their place: a copy of a struct whose
/// parts were just written makes the processor wait for them.
template <typename Times>
void SetStart(const TaskGraph& graph, const Times& times, TaskId id,
              Placement* placements) {
  TaskId blocker = graph.previous(id);
  Duration start = blocker.valid()
                       ? placements[blocker.value].end + times.gap(id.value)
                       : kNever;
  Cause cause = Cause::kLane;
  uint8_t kind = 0;
  uint32_t place = graph.first_wait(id);
  for (const Dependency& wait : graph.waits(id)) {
    const Duration delay = times.delay(wait, place++);
    if (times.ignores(delay)) {
      continue;
    }
    const Placement& before = placements[wait.before.value];
    const Duration time = std::max(before.end + delay, before.run);
    if (time > start) {
      start = time;
      blocker = wait.before;
      cause = Cause::kDependency;
      kind = wait.kind;
    }
  }
  const Duration release = times.release(id.value);
  if (release > start) {
    start = release;
    blocker = {};
    cause = release.count() > 0 ? Cause::kRelease : Cause::kNone;
    kind = 0;
  }
  Placement& placement = placements[id.value];
  placement.start = start;
  placement.blocker = blocker;
  placement.cause = cause;
  placement.kind = kind;
}

/// Lets the members of a rendezvous, all of which have a start, work.
template <typename Times>
void Meet(std::span<const TaskId> members, const Times& times,
          Placement* placements) {
  Duration last = kNever;
  for (const TaskId member : members) {
    last = std::max(last, placements[member.value].start);
  }
  for (const TaskId member : members) {
    placements[member.value].run = last;
    placements[member.value].end = last + times.duration(member.value);
  }
}

template <typename Times>
void PlaceAll(const TaskGraph& graph, const Times& times, Schedule& schedule) {
  if (schedule.placements.size() != graph.tasks().size()) {
    schedule.placements = IdVector<TaskId, Placement>(graph.tasks().size());
  }
  const Task* const tasks = graph.tasks().items().data();
  Placement* const placements = std::to_address(schedule.placements.begin());
  for (const TaskId id : graph.order()) {
    const Task& task = tasks[id.value];
    SetStart(graph, times, id, placements);
    Placement& placement = placements[id.value];
    if (!task.rendezvous.valid() || times.apart(task.rendezvous)) {
      placement.run = placement.start;
      placement.end = placement.start + times.duration(id.value);
    } else if (graph.closer(task.rendezvous) == id) {
      Meet(graph.members(task.rendezvous), times, placements);
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
  const auto duration_of = [=](uint32_t task) { return tasks[task].duration; };
  PlaceAll(graph, OwnTimes<decltype(duration_of)>{tasks, duration_of},
           schedule);
  return schedule;
}

void Resimulate(const TaskGraph& graph, std::span<const Duration> durations,
                Schedule& schedule) {
  CHECK(durations.size() == graph.tasks().size())
      << durations.size() << " durations for " << graph.tasks().size();
  const auto duration_of = [=](uint32_t task) { return durations[task]; };
  PlaceAll(graph,
           OwnTimes<decltype(duration_of)>{graph.tasks().items().data(),
                                           duration_of},
           schedule);
}

TaskTimes TimesOf(const TaskGraph& graph) {
  TaskTimes times;
  times.durations.reserve(graph.tasks().size());
  times.gaps.reserve(graph.tasks().size());
  times.releases.reserve(graph.tasks().size());
  times.delays.reserve(graph.wait_count());
  for (const TaskId id : graph.tasks().ids()) {
    const Task& task = graph.tasks()[id];
    times.durations.push_back(task.duration);
    times.gaps.push_back(task.gap);
    times.releases.push_back(task.release);
    for (const Dependency& wait : graph.waits(id)) {
      times.delays.push_back(wait.delay);
    }
  }
  times.apart.assign(graph.rendezvous_count(), 0);
  return times;
}

void SimulateWith(const TaskGraph& graph, const TaskTimes& times,
                  Schedule& schedule) {
  const size_t tasks = graph.tasks().size();
  CHECK(times.durations.size() == tasks && times.gaps.size() == tasks &&
        times.releases.size() == tasks)
      << times.durations.size() << " times for " << tasks;
  CHECK(times.delays.size() == graph.wait_count())
      << times.delays.size() << " delays for " << graph.wait_count();
  CHECK(times.apart.size() == graph.rendezvous_count())
      << times.apart.size() << " of " << graph.rendezvous_count();
  PlaceAll(graph, OtherTimes{&times}, schedule);
}

}  // namespace stepcast::sim
