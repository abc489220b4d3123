#include "whatif/task_filler.h"

#include <algorithm>
#include <cmath>

#include "ir/graph.h"

namespace stepcast::whatif {
namespace {

using timeline::TaskOrigin;
using Kind = TaskOrigin::Kind;

Duration Rounded(double nanoseconds) {
  return Duration(std::llround(nanoseconds));
}

// Works out the times of one task after the other.
class TaskTimer {
 public:
  TaskTimer(const ir::GraphData& data, const timeline::Lowered& lowered,
            const StepTimes& times, sim::TaskTimes& task_times)
      : data_(data),
        lowered_(lowered),
        times_(times),
        task_times_(task_times) {}

  void Fill(sim::TaskId id);

 private:
  void FillDelays(sim::TaskId task, const TaskOrigin& origin);
  Duration DelayOf(const sim::Dependency& wait, const TaskOrigin& origin) const;
  Duration Shifted(Duration release, ir::RankId rank) const;
  bool Keeps(ir::ActivityId before, ir::ActivityId after) const;
  bool IsDropped(sim::TaskId task) const {
    const TaskOrigin& origin = lowered_.origins[task];
    return origin.kind == Kind::kActivity &&
           times_.activities[origin.activity].dropped;
  }

  const ir::GraphData& data_;
  const timeline::Lowered& lowered_;
  const StepTimes& times_;
  sim::TaskTimes& task_times_;
};

// A release that counts from the rank's start moves with it.
Duration TaskTimer::Shifted(Duration release, ir::RankId rank) const {
  return std::max(
      release + times_.rank_starts[rank] - lowered_.rank_starts[rank],
      Duration{});
}

bool TaskTimer::Keeps(ir::ActivityId before, ir::ActivityId after) const {
  if (times_.stream_waits.empty()) {
    return true;
  }
  const ir::StreamWait* const first = data_.stream_waits.data();
  const auto& left_overs = lowered_.left_overs;
  for (const ir::StreamWait& wait : ir::WaitsOf(data_, after)) {
    const bool of_before =
        !left_overs.empty() && left_overs[wait.before] == before;
    if (wait.before == before || of_before) {
      return times_.stream_waits[static_cast<size_t>(&wait - first)] != 0;
    }
  }
  return true;
}

Duration TaskTimer::DelayOf(const sim::Dependency& wait,
                            const TaskOrigin& origin) const {
  switch (static_cast<timeline::Wait>(wait.kind)) {
    case timeline::Wait::kLaunch:
      return times_.activities[origin.activity].dropped
                 ? sim::kNoWait
                 : Rounded(times_.activities[origin.activity].launch);
    case timeline::Wait::kStreamWait:
      return Keeps(lowered_.origins[wait.before].activity, origin.activity)
                 ? wait.delay
                 : sim::kNoWait;
    case timeline::Wait::kHost:
      return times_.segments[origin.thread][origin.segment].waits
                 ? wait.delay
                 : sim::kNoWait;
    case timeline::Wait::kContention:
      return IsDropped(wait.before) || IsDropped(wait.after) ? sim::kNoWait
                                                             : wait.delay;
    case timeline::Wait::kHandoff:
    case timeline::Wait::kQueue:
      break;
  }
  return wait.delay;
}

void TaskTimer::FillDelays(sim::TaskId task, const TaskOrigin& origin) {
  uint32_t place = lowered_.tasks.first_wait(task);
  for (const sim::Dependency& wait : lowered_.tasks.waits(task)) {
    task_times_.delays[place++] = DelayOf(wait, origin);
  }
}

void TaskTimer::Fill(sim::TaskId id) {
  const TaskOrigin& origin = lowered_.origins[id];
  const sim::Task& task = lowered_.tasks.tasks()[id];
  Duration& duration = task_times_.durations[id.value];
  Duration& release = task_times_.releases[id.value];
  switch (origin.kind) {
    case Kind::kStart:
      release = origin.repeat == 0 ? Shifted(task.release, origin.rank)
                                   : task.release;
      break;
    case Kind::kSegment:
      duration =
          Rounded(times_.segments[origin.thread][origin.segment].duration);
      break;
    case Kind::kReturn:
      duration = Rounded(times_.segments[origin.thread][origin.segment].tail);
      break;
    case Kind::kActivity: {
      const EditedActivity& activity = times_.activities[origin.activity];
      duration = Rounded(activity.dropped ? 0 : activity.duration);
      task_times_.gaps[id.value] = Rounded(activity.dropped ? 0 : activity.gap);
      if (!data_.activities[origin.activity].call.valid()) {
        release = Shifted(task.release, origin.rank);
      }
      if (activity.dropped && task.rendezvous.valid()) {
        task_times_.apart[task.rendezvous.value] = 1;
      }
      break;
    }
  }
  FillDelays(id, origin);
}

// What one task's times depend on, apart from what all of them depend on.
bool SameTimes(const EditedActivity& a, const EditedActivity& b) {
  return a.duration == b.duration && a.launch == b.launch && a.gap == b.gap;
}
bool SameTimes(const EditedSegment& a, const EditedSegment& b) {
  return a.duration == b.duration && a.tail == b.tail && a.waits == b.waits;
}

// Whether edits reach beyond the tasks of what was edited: waits for an
// activity that is gone, waits of streams, when ranks start.
bool ReachFar(const StepTimes& a, const StepTimes& b) {
  if (a.stream_waits != b.stream_waits ||
      !std::ranges::equal(a.rank_starts, b.rank_starts)) {
    return true;
  }
  return !std::ranges::equal(a.activities, b.activities, {},
                             &EditedActivity::dropped,
                             &EditedActivity::dropped);
}

}  // namespace

sim::TaskTimes ToTaskTimes(const ir::GraphData& data,
                           const timeline::Lowered& lowered,
                           const StepTimes& times) {
  sim::TaskTimes task_times = sim::TimesOf(lowered.tasks);
  TaskTimer timer(data, lowered, times, task_times);
  for (const sim::TaskId task : lowered.origins.ids()) {
    timer.Fill(task);
  }
  return task_times;
}

TaskFiller::TaskFiller(const ir::GraphData& data,
                       const timeline::Lowered& lowered, const StepTimes& base)
    : data_(data),
      lowered_(lowered),
      base_(base),
      base_times_(ToTaskTimes(data, lowered, base)),
      task_times_(base_times_) {
  IndexTasks();
}

void TaskFiller::IndexTasks() {
  auto keys = static_cast<uint32_t>(base_.activities.size());
  first_segment_ = IdVector<ir::ThreadId, uint32_t>(base_.segments.size());
  for (const ir::ThreadId thread : base_.segments.ids()) {
    first_segment_[thread] = keys;
    keys += static_cast<uint32_t>(base_.segments[thread].size());
  }
  const auto key_of = [&](const TaskOrigin& origin) {
    return origin.kind == Kind::kActivity
               ? origin.activity.value
               : first_segment_[origin.thread] + origin.segment;
  };
  first_task_.assign(keys + 1, 0);
  for (const TaskOrigin& origin : lowered_.origins) {
    if (origin.kind != Kind::kStart) {
      ++first_task_[key_of(origin) + 1];
    }
  }
  for (size_t i = 1; i < first_task_.size(); ++i) {
    first_task_[i] += first_task_[i - 1];
  }
  tasks_.resize(first_task_.back());
  std::vector<uint32_t> next(first_task_.begin(), first_task_.end() - 1);
  for (const sim::TaskId task : lowered_.origins.ids()) {
    const TaskOrigin& origin = lowered_.origins[task];
    if (origin.kind != Kind::kStart) {
      tasks_[next[key_of(origin)]++] = task;
    }
  }
}

const sim::TaskTimes& TaskFiller::Fill(const StepTimes& times) {
  Restore();
  if (ReachFar(base_, times)) {
    whole_ = true;
    task_times_ = ToTaskTimes(data_, lowered_, times);
  } else {
    FillEdited(times);
  }
  return task_times_;
}

void TaskFiller::Restore() {
  if (whole_) {
    task_times_ = base_times_;
    whole_ = false;
  }
  for (const sim::TaskId task : touched_) {
    const size_t at = task.value;
    task_times_.durations[at] = base_times_.durations[at];
    task_times_.gaps[at] = base_times_.gaps[at];
    task_times_.releases[at] = base_times_.releases[at];
    const uint32_t first = lowered_.tasks.first_wait(task);
    const size_t waits = lowered_.tasks.waits(task).size();
    std::copy_n(base_times_.delays.begin() + first, waits,
                task_times_.delays.begin() + first);
  }
  touched_.clear();
}

void TaskFiller::FillEdited(const StepTimes& times) {
  TaskTimer timer(data_, lowered_, times, task_times_);
  const auto fill = [&](uint32_t key) {
    for (uint32_t i = first_task_[key]; i < first_task_[key + 1]; ++i) {
      timer.Fill(tasks_[i]);
      touched_.push_back(tasks_[i]);
    }
  };
  for (const ir::ActivityId id : base_.activities.ids()) {
    if (!SameTimes(base_.activities[id], times.activities[id])) {
      fill(id.value);
    }
  }
  for (const ir::ThreadId thread : base_.segments.ids()) {
    const std::vector<EditedSegment>& before = base_.segments[thread];
    const std::vector<EditedSegment>& after = times.segments[thread];
    for (uint32_t i = 0; i < before.size(); ++i) {
      if (!SameTimes(before[i], after[i])) {
        fill(first_segment_[thread] + i);
      }
    }
  }
}

}  // namespace stepcast::whatif
