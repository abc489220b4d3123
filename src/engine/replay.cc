#include "engine/replay.h"

#include <algorithm>
#include <map>
#include <utility>

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

// What works took is what they are priced at.
PricedWorks MeasuredWorks(const ir::GraphData& data,
                          const lower::WorkTimes& times) {
  PricedWorks works;
  works.models.emplace_back();
  works.prices = IdVector<ir::WorkId, WorkPrice>(data.works.size());
  double total = 0;
  for (const ir::WorkId id : data.works.ids()) {
    const double us = ToMicroseconds(times.works[id].duration);
    works.prices[id] = {.p10_us = us,
                        .p50_us = us,
                        .p90_us = us,
                        .source = data.works[id].measured
                                      ? PriceSource::kMeasured
                                      : PriceSource::kUnknown};
    total += us;
  }
  works.coverage[static_cast<size_t>(PriceSource::kMeasured)] =
      total > 0 ? 1 : 0;
  return works;
}

void AddLateStarts(const std::vector<lower::LateStart>& late_starts,
                   Replay& replay) {
  const ir::Graph& graph = *replay.result.graph;
  const ir::GraphData& data = graph.data();
  for (const lower::LateStart& late : late_starts) {
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

void AddLongTails(Replay& replay) {
  const ir::Graph& graph = *replay.result.graph;
  const ir::GraphData& data = graph.data();
  for (const ir::ThreadId thread : data.threads.ids()) {
    for (const cost::HostPiece& piece : replay.result.plan.threads[thread]) {
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
    const RankAccount& account = replay.result.accounts[rank.value];
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

Result<Replay> ReplayStep(std::shared_ptr<const ir::Graph> graph) {
  const ir::GraphData& data = graph->data();
  RETURN_IF_ERROR(CheckRanks(data));
  Replay replay;
  StepResult& result = replay.result;
  result.graph = std::move(graph);
  result.plan = cost::MeasuredPlan(data);
  lower::MeasuredTimes measured = lower::TakeMeasuredTimes(data);
  result.works = MeasuredWorks(data, measured.times);
  result.causes = std::move(measured.causes);
  // What a full launch queue blocked is in the calls' measured durations.
  ASSIGN_OR_RETURN(result.lowered,
                   lower::Lower(*result.graph, result.plan, measured.times,
                                {.launch_queue = 0}));
  result.schedule = sim::Simulate(result.lowered.tasks);
  TakeSchedule(SpansOf(result.lowered, result.schedule), result);
  replay.collectives = BlameCollectives(*result.graph, result.plan,
                                        result.lowered, result.schedule);
  replay.overlaps = measured.overlaps;
  AddLateStarts(measured.late_starts, replay);
  AddLongTails(replay);
  std::ranges::stable_sort(replay.unexplained,
                           [](const Unexplained& a, const Unexplained& b) {
                             return a.time > b.time;
                           });
  FillRanks(data, replay);
  return replay;
}

}  // namespace stepcast::engine
