#include "whatif/step_times.h"

#include <algorithm>
#include <cmath>

#include "ir/waits_of.h"

namespace stepcast::whatif {
namespace {

using lower::TaskOrigin;
using Kind = TaskOrigin::Kind;

double Nanoseconds(Duration time) {
  return static_cast<double>(time.count());
}

Duration Rounded(double nanoseconds) {
  return Duration(std::llround(nanoseconds));
}

void TakeWorks(const ir::GraphData& data, const engine::Prediction& prediction,
               StepTimes& times) {
  const lower::Lowered& lowered = prediction.lowered;
  times.works = IdVector<ir::WorkId, EditedWork>(data.works.size());
  for (const std::string_view model : prediction.works.models) {
    times.models.emplace_back(model);
  }
  for (const ir::WorkId id : data.works.ids()) {
    const engine::WorkPrice& price = prediction.works.prices[id];
    EditedWork& work = times.works[id];
    work.model = price.model;
    work.source = price.source;
    if (price.p50_us > 0 && price.p10_us > 0) {
      work.low = price.p10_us / price.p50_us;
      work.high = price.p90_us / price.p50_us;
    }
  }
  for (const sim::TaskId task : lowered.origins.ids()) {
    const TaskOrigin& origin = lowered.origins[task];
    if (origin.kind != Kind::kWork) {
      continue;
    }
    EditedWork& work = times.works[origin.work];
    work.duration = Nanoseconds(lowered.tasks.tasks()[task].duration);
    work.gap = Nanoseconds(lowered.tasks.tasks()[task].gap);
    for (const sim::Dependency& wait : lowered.tasks.waits(task)) {
      if (static_cast<lower::Wait>(wait.kind) == lower::Wait::kLaunch) {
        work.launch = Nanoseconds(wait.delay);
      }
    }
  }
}

// Turns edited times into those of tasks, one task after the other.
class TaskFiller {
 public:
  TaskFiller(const ir::GraphData& data, const lower::Lowered& lowered,
             const StepTimes& times)
      : data_(data),
        lowered_(lowered),
        times_(times),
        task_times_(sim::TimesOf(lowered.tasks)) {}

  sim::TaskTimes Run();

 private:
  void Fill(sim::TaskId task);
  void FillDelays(sim::TaskId task, const TaskOrigin& origin);
  Duration DelayOf(const sim::Dependency& wait, const TaskOrigin& origin) const;
  Duration Shifted(Duration release, ir::RankId rank) const;
  bool Keeps(ir::WorkId before, ir::WorkId after) const;
  bool IsDropped(sim::TaskId task) const {
    const TaskOrigin& origin = lowered_.origins[task];
    return origin.kind == Kind::kWork && times_.works[origin.work].dropped;
  }

  const ir::GraphData& data_;
  const lower::Lowered& lowered_;
  const StepTimes& times_;
  sim::TaskTimes task_times_;
};

// A release that counts from the rank's start moves with it.
Duration TaskFiller::Shifted(Duration release, ir::RankId rank) const {
  return std::max(
      release + times_.rank_starts[rank] - lowered_.rank_starts[rank],
      Duration{});
}

bool TaskFiller::Keeps(ir::WorkId before, ir::WorkId after) const {
  if (times_.stream_waits.empty()) {
    return true;
  }
  const ir::StreamWait* const first = data_.stream_waits.data();
  for (const ir::StreamWait& wait : ir::WaitsOf(data_, after)) {
    if (wait.before == before) {
      return times_.stream_waits[static_cast<size_t>(&wait - first)] != 0;
    }
  }
  return true;
}

Duration TaskFiller::DelayOf(const sim::Dependency& wait,
                             const TaskOrigin& origin) const {
  switch (static_cast<lower::Wait>(wait.kind)) {
    case lower::Wait::kLaunch:
      return times_.works[origin.work].dropped
                 ? sim::kNoWait
                 : Rounded(times_.works[origin.work].launch);
    case lower::Wait::kStreamWait:
      return Keeps(lowered_.origins[wait.before].work, origin.work)
                 ? wait.delay
                 : sim::kNoWait;
    case lower::Wait::kHost:
      return times_.pieces[origin.thread][origin.piece].waits ? wait.delay
                                                              : sim::kNoWait;
    case lower::Wait::kContention:
      return IsDropped(wait.before) || IsDropped(wait.after) ? sim::kNoWait
                                                             : wait.delay;
    case lower::Wait::kHandOver:
    case lower::Wait::kQueue:
      break;
  }
  return wait.delay;
}

void TaskFiller::FillDelays(sim::TaskId task, const TaskOrigin& origin) {
  uint32_t place = lowered_.tasks.first_wait(task);
  for (const sim::Dependency& wait : lowered_.tasks.waits(task)) {
    task_times_.delays[place++] = DelayOf(wait, origin);
  }
}

void TaskFiller::Fill(sim::TaskId task) {
  const TaskOrigin& origin = lowered_.origins[task];
  Duration& duration = task_times_.durations[task.value];
  Duration& release = task_times_.releases[task.value];
  switch (origin.kind) {
    case Kind::kStart:
      release = origin.repeat == 0 ? Shifted(release, origin.rank) : release;
      break;
    case Kind::kPiece:
      duration = Rounded(times_.pieces[origin.thread][origin.piece].duration);
      break;
    case Kind::kReturn:
      duration = Rounded(times_.pieces[origin.thread][origin.piece].tail);
      break;
    case Kind::kWork: {
      const EditedWork& work = times_.works[origin.work];
      duration = Rounded(work.dropped ? 0 : work.duration);
      task_times_.gaps[task.value] = Rounded(work.dropped ? 0 : work.gap);
      if (!data_.works[origin.work].call.valid()) {
        release = Shifted(release, origin.rank);
      }
      const sim::MeetingId meeting = lowered_.tasks.tasks()[task].meeting;
      if (work.dropped && meeting.valid()) {
        task_times_.apart[meeting.value] = 1;
      }
      break;
    }
  }
  FillDelays(task, origin);
}

sim::TaskTimes TaskFiller::Run() {
  for (const sim::TaskId task : lowered_.origins.ids()) {
    Fill(task);
  }
  return std::move(task_times_);
}

}  // namespace

StepTimes TimesOf(const ir::GraphData& data,
                  const engine::Prediction& prediction) {
  StepTimes times;
  TakeWorks(data, prediction, times);
  times.pieces =
      IdVector<ir::ThreadId, std::vector<EditedPiece>>(data.threads.size());
  for (const ir::ThreadId thread : data.threads.ids()) {
    for (const cost::HostPiece& piece : prediction.plan.threads[thread]) {
      times.pieces[thread].push_back({.duration = Nanoseconds(piece.duration),
                                      .tail = Nanoseconds(piece.tail)});
    }
  }
  times.rank_starts = prediction.lowered.rank_starts;
  return times;
}

uint16_t NumberOf(std::string_view model, StepTimes& times) {
  const auto found = std::ranges::find(times.models, model);
  if (found == times.models.end()) {
    times.models.emplace_back(model);
    return static_cast<uint16_t>(times.models.size() - 1);
  }
  return static_cast<uint16_t>(found - times.models.begin());
}

sim::TaskTimes ToTaskTimes(const ir::GraphData& data,
                           const lower::Lowered& lowered,
                           const StepTimes& times) {
  return TaskFiller(data, lowered, times).Run();
}

std::vector<engine::StepSpan> SpansOf(const lower::Lowered& lowered,
                                      const StepTimes& times,
                                      const sim::Schedule& schedule) {
  if (lowered.rank_ends.size() > 1) {
    return engine::LastSpans(lowered, schedule);
  }
  std::vector<engine::StepSpan> spans = engine::SingleSpans(lowered, schedule);
  for (const ir::RankId rank : times.rank_starts.ids()) {
    engine::StepSpan& span = spans[rank.value];
    span.begin = times.rank_starts[rank];
    span.end = std::max(span.end, span.begin);
  }
  return spans;
}

Duration LongestOf(const std::vector<engine::StepSpan>& spans) {
  Duration longest{};
  for (const engine::StepSpan& span : spans) {
    longest = std::max(longest, span.end - span.begin);
  }
  return longest;
}

}  // namespace stepcast::whatif
