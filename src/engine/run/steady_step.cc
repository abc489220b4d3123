#include "engine/run/steady_step.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "engine/run/replay.h"
#include "sim/simulate.h"
#include "timeline/lower.h"
#include "timeline/measured_times.h"
#include "timeline/predicted_plan.h"

namespace stepcast::engine {
namespace {

using std::chrono::microseconds;

// How often the step is run. Most settle at once; a launch queue that fills up
// takes longer.
constexpr uint32_t kFewRepeats = 3;
constexpr uint32_t kMostRepeats = 12;
// Two lengths that differ by less are the same: a thousandth, or the rounding
// of recorders that write integer microseconds.
constexpr int64_t kSettled = 1000;
constexpr Duration kRounding = microseconds(2);

bool IsSettled(const timeline::Lowered& lowered,
               const sim::Schedule& schedule) {
  const auto last = static_cast<uint32_t>(lowered.rank_ends.size()) - 1;
  const IdVector<ir::RankId, Duration> now =
      SteadyPeriods(lowered, schedule, last, 1);
  const IdVector<ir::RankId, Duration> before =
      SteadyPeriods(lowered, schedule, last - 1, 1);
  for (const ir::RankId rank : now.ids()) {
    if (std::chrono::abs(now[rank] - before[rank]) >
        std::max(now[rank] / kSettled, kRounding)) {
      return false;
    }
  }
  return true;
}

// Runs the step until it settles. One that goes back and forth counts by the
// mean of its last repeats.
Status Settle(const timeline::ActivityTimes& times, StepResult& result) {
  for (uint32_t repeats = kFewRepeats;; repeats = 2 * repeats) {
    ASSIGN_OR_RETURN(
        result.lowered,
        timeline::Lower(
            *result.graph, result.plan, times,
            {.repeats = repeats, .steady = true, .rank_offsets = false}));
    result.schedule = sim::Simulate(result.lowered.tasks);
    if (IsSettled(result.lowered, result.schedule)) {
      return {};
    }
    if (2 * repeats > kMostRepeats) {
      result.lowered.steady_repeats = repeats / 2;
      return {};
    }
  }
}

}  // namespace

std::vector<HostLead> HostLeads(const ir::GraphData& data) {
  const IdVector<ir::ActivityId, ir::ActivityId> left_overs =
      timeline::LeftOvers(data);
  IdVector<ir::RankId, HostLead> leads(data.ranks.size());
  for (const ir::RankId rank : data.ranks.ids()) {
    leads[rank].rank = data.ranks[rank].number;
  }
  IdVector<ir::RankId, Duration> ends(data.ranks.size());
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::Activity& activity = data.activities[id];
    if (!ir::StartOf(activity.measured)) {
      continue;
    }
    const ir::RankId rank = data.streams[activity.stream].rank;
    const Duration end =
        *activity.measured->start + activity.measured->duration;
    Duration& latest =
        left_overs[id].valid() ? leads[rank].at_start : ends[rank];
    latest = std::max(latest, end);
  }
  for (const ir::RankId rank : data.ranks.ids()) {
    if (data.ranks[rank].step && ends[rank] > Duration{}) {
      leads[rank].at_end = ends[rank] - data.ranks[rank].step->duration;
    }
  }
  return {leads.begin(), leads.end()};
}

Result<StepResult> SteadyStep(std::shared_ptr<const ir::Graph> graph,
                              const SteadyOptions& options) {
  const ir::GraphData& data = graph->data();
  RETURN_IF_ERROR(CheckReplayable(data));
  StepResult result;
  result.graph = std::move(graph);
  result.plan = options.overheads == nullptr
                    ? timeline::SteadyPlan(data)
                    : timeline::PredictedPlan(*result.graph, *options.overheads,
                                              {.profiled = options.profiled,
                                               .steady = true,
                                               .keep_stalls = options.own},
                                              &result.overheads);
  const timeline::MeasuredTimes measured =
      timeline::TakeMeasuredTimes(data, /*keep_late=*/true);
  result.activities = MeasuredActivities(data, measured.times);
  RETURN_IF_ERROR(Settle(measured.times, result));
  TakeSchedule(SpansOf(result.lowered, result.schedule), result);
  return result;
}

}  // namespace stepcast::engine
