#include <algorithm>
#include <optional>
#include <vector>

#include "timeline/handoff.h"
#include "timeline/host_plan.h"
#include "timeline/silent_waits.h"
#include "timeline/timed_segments.h"

namespace stepcast::timeline {
namespace {

// What the thread's segments fill: the whole step, for the rank's first thread,
// which is its main one if it has that.
std::optional<Duration> StepOf(const ir::GraphData& data, ir::ThreadId thread) {
  const ir::RankId rank = data.threads[thread].rank;
  const auto& step = data.ranks[rank].step;
  const bool first = thread.value == 0 ||
                     data.threads[ir::ThreadId{thread.value - 1}].rank != rank;
  return first && step ? std::optional(step->duration) : std::nullopt;
}

// The rank's busiest thread of that role; invalid if it has none.
ir::ThreadId ThreadOf(const ir::GraphData& data, ir::RankId rank,
                      ir::ThreadRole role,
                      const IdVector<ir::ThreadId, TimedThread>& cut) {
  ir::ThreadId best{};
  for (const ir::ThreadId id : data.threads.ids()) {
    const ir::Thread& thread = data.threads[id];
    if (thread.rank == rank && thread.role == role &&
        (!best.valid() || cut[id].items.size() > cut[best].items.size())) {
      best = id;
    }
  }
  return best;
}

// The main thread's last segment to end by then; none if it had none.
std::optional<uint32_t> LastSegmentBy(const TimedThread& main, Duration time) {
  const auto next =
      std::ranges::upper_bound(main.segments, time, {}, &TimedSegment::end);
  if (next == main.segments.begin()) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(next - main.segments.begin()) - 1;
}

// A thread without a handoff starts so long after what the main thread had
// done by then.
void StartAfterMain(const ir::GraphData& data,
                    const IdVector<ir::ThreadId, TimedThread>& cut,
                    HostPlan& plan) {
  std::vector<char> handed(data.threads.size());
  for (const Handoff& handoff : plan.handoffs) {
    handed[handoff.to.value] = 1;
  }
  ir::ThreadId first{};  // Of the rank.
  for (const ir::ThreadId id : data.threads.ids()) {
    if (!first.valid() || data.threads[first].rank != data.threads[id].rank) {
      first = id;
      continue;
    }
    if (handed[id.value] != 0 || cut[id].segments.empty()) {
      continue;
    }
    const Duration begin = cut[id].segments.front().begin;
    if (const auto segment = LastSegmentBy(cut[first], begin)) {
      plan.handoffs.push_back(
          {.from = first,
           .from_segment = *segment,
           .to = id,
           .delay = begin - cut[first].segments[*segment].end});
    }
  }
}

// Where the host waited for an activity that ended in a segment, it is busy
// only from then on.
void WaitSilently(const ir::GraphData& data,
                  const IdVector<ir::ThreadId, TimedThread>& cut,
                  HostPlan& plan) {
  for (const SilentWait& wait : FindSilentWaits(data, plan)) {
    if (!wait.activity.valid()) {
      continue;
    }
    HostSegment& segment = plan.threads[wait.thread][wait.segment];
    const ir::Measured& awaited = *data.activities[wait.activity].measured;
    const Duration end = cut[wait.thread].segments[wait.segment].end;
    segment.awaited = wait.activity;
    segment.duration = {};
    segment.tail =
        std::max(end - (*awaited.start + awaited.duration), Duration{});
  }
}

HostPlan PlanOf(const ir::GraphData& data, bool steady) {
  HostPlan plan;
  const IdVector<ir::OpId, ir::OpId> tops = TopLevelOps(data);
  IdVector<ir::ThreadId, TimedThread> cut(data.threads.size());
  for (const ir::ThreadId id : data.threads.ids()) {
    cut[id] = CutThread(data, tops, id, StepOf(data, id));
    plan.unplaced += cut[id].unplaced;
  }
  plan.threads = IdVector<ir::ThreadId, std::vector<HostSegment>>(cut.size());
  plan.starts = IdVector<ir::ThreadId, Duration>(cut.size());
  for (const ir::RankId rank : data.ranks.ids()) {
    const ir::ThreadId main = ThreadOf(data, rank, ir::ThreadRole::kMain, cut);
    const ir::ThreadId autograd =
        ThreadOf(data, rank, ir::ThreadRole::kAutograd, cut);
    if (main.valid() && autograd.valid()) {
      const std::vector<Handoff> found =
          SplitWaits(data, main, cut[main], autograd, cut[autograd]);
      plan.handoffs.insert(plan.handoffs.end(), found.begin(), found.end());
    }
  }
  for (const ir::ThreadId id : data.threads.ids()) {
    if (!cut[id].segments.empty()) {
      plan.starts[id] = cut[id].segments.front().begin;
    }
    for (const TimedSegment& timed : cut[id].segments) {
      plan.threads[id].push_back(timed.segment);
    }
  }
  if (steady) {
    StartAfterMain(data, cut, plan);
    WaitSilently(data, cut, plan);
  }
  return plan;
}

}  // namespace

HostPlan MeasuredPlan(const ir::GraphData& data) {
  return PlanOf(data, false);
}

HostPlan SteadyPlan(const ir::GraphData& data) {
  return PlanOf(data, true);
}

}  // namespace stepcast::timeline
