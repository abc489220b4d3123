#include "engine/replay.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/intervals.h"
#include "engine/short_name.h"

namespace stepcast::engine {
namespace {

using std::chrono::microseconds;

// A call that returns so long after all it is known to wait for waited for
// something else, too. Returns of syncs take up to 70 us in the traces at hand.
constexpr Duration kLongTail = microseconds(100);

// How long each rank's device ran anything within the step.
IdVector<ir::RankId, Duration> MeasuredActive(const ir::GraphData& data) {
  IdVector<ir::RankId, std::vector<Interval>> busy(data.ranks.size());
  for (const ir::Work& work : data.works) {
    if (!ir::StartOf(work.measured)) {
      continue;
    }
    const ir::RankId rank = data.streams[work.stream].rank;
    const Duration start = std::max(*work.measured->start, Duration{});
    const Duration end =
        std::min(*work.measured->start + work.measured->duration,
                 data.ranks[rank].step->duration);
    if (start < end) {
      busy[rank].push_back({start, end});
    }
  }
  IdVector<ir::RankId, Duration> active;
  for (std::vector<Interval>& intervals : busy) {
    active.push_back(TotalLength(Union(std::move(intervals))));
  }
  return active;
}

void AddLateStarts(const ir::Graph& graph, Replay& replay) {
  const ir::GraphData& data = graph.data();
  for (const lower::LateStart& late : replay.times.late_starts) {
    const ir::Work& work = data.works[late.work];
    constexpr auto kBehind = [](lower::StartCause cause) -> std::string_view {
      switch (cause) {
        case lower::StartCause::kLaunch:
          return "its launch";
        case lower::StartCause::kStream:
          return "the work before it";
        default:
          return "what its stream waited for";
      }
    };
    replay.unexplained.push_back(
        {.rank = data.ranks[data.streams[work.stream].rank].number,
         .what = fmt::format("{} started late behind {}",
                             ShortWorkName(graph.text(work.name)),
                             kBehind(late.cause)),
         .at = *work.measured->start,
         .time = late.late});
  }
}

void AddLongTails(const ir::Graph& graph, Replay& replay) {
  const ir::GraphData& data = graph.data();
  for (const ir::ThreadId thread : data.threads.ids()) {
    for (const cost::HostPiece& piece : replay.plan.threads[thread]) {
      if (piece.call.valid() && piece.tail > kLongTail) {
        const ir::Call& call = data.calls[piece.call];
        replay.unexplained.push_back(
            {.rank = data.ranks[data.threads[thread].rank].number,
             .what = fmt::format("{} returned late behind what it waited for",
                                 graph.text(call.name)),
             .at = *call.measured->start,
             .time = piece.tail});
      }
    }
  }
}

void FillRanks(const ir::GraphData& data, Replay& replay) {
  std::map<int64_t, Duration> unexplained;
  for (const Unexplained& item : replay.unexplained) {
    unexplained[item.rank] += item.time;
  }
  const IdVector<ir::RankId, Duration> active = MeasuredActive(data);
  for (const ir::RankId rank : data.ranks.ids()) {
    const RankAccount& account = replay.accounts[rank.value];
    ReplayedRank& added = replay.ranks.emplace_back();
    added.rank = data.ranks[rank].number;
    added.measured = data.ranks[rank].step->duration;
    added.simulated = account.step;
    added.gpu_active_measured = active[rank];
    added.gpu_active_simulated = account.gpu_active;
    added.unexplained = unexplained[added.rank];
  }
}

// A step needs times, and a host that can be seen to take them.
Status CheckRanks(const ir::GraphData& data) {
  IdVector<ir::RankId, char> has_host(data.ranks.size());
  for (const ir::Thread& thread : data.threads) {
    has_host[thread.rank] = 1;
  }
  for (const ir::RankId id : data.ranks.ids()) {
    const ir::Rank& rank = data.ranks[id];
    if (!rank.step) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("rank {} has no measured step; expected a "
                              "profiler trace to replay",
                              rank.number));
    }
    if (has_host[id] == 0) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("rank {} has no op and no call in the step; "
                              "expected the host's part of it",
                              rank.number));
    }
  }
  return {};
}

}  // namespace

Result<Replay> ReplayStep(const ir::Graph& graph) {
  const ir::GraphData& data = graph.data();
  RETURN_IF_ERROR(CheckRanks(data));
  Replay replay;
  replay.plan = cost::MeasuredPlan(data);
  replay.times = lower::TakeMeasuredTimes(data);
  // What a full launch queue blocked is in the calls' measured durations.
  ASSIGN_OR_RETURN(replay.lowered,
                   lower::Lower(graph, replay.plan, replay.times.times,
                                {.launch_queue = 0}));
  replay.schedule = sim::Simulate(replay.lowered.tasks);
  replay.accounts =
      MakeAccounts(data, replay.plan, replay.lowered, replay.schedule,
                   SingleSpans(replay.lowered, replay.schedule));
  replay.collectives =
      BlameCollectives(graph, replay.plan, replay.lowered, replay.schedule);
  AddLateStarts(graph, replay);
  AddLongTails(graph, replay);
  std::ranges::stable_sort(replay.unexplained,
                           [](const Unexplained& a, const Unexplained& b) {
                             return a.time > b.time;
                           });
  FillRanks(data, replay);
  sim::TaskId last{};
  for (const sim::TaskId end : replay.lowered.rank_ends.back()) {
    if (end.valid() &&
        (!last.valid() || replay.schedule.placements[end].end >
                              replay.schedule.placements[last].end)) {
      last = end;
    }
  }
  replay.critical_path =
      sim::PathTo(replay.lowered.tasks, replay.schedule, last);
  return replay;
}

}  // namespace stepcast::engine
