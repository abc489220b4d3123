#include <optional>

#include "timeline/handoff.h"
#include "timeline/host_plan.h"
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

}  // namespace

HostPlan MeasuredPlan(const ir::GraphData& data) {
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
  return plan;
}

}  // namespace stepcast::timeline
