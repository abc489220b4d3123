#include "engine/predict.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/share_links.h"
#include "engine/step_interval.h"
#include "ir/names.h"
#include "lower/measured_times.h"

namespace stepcast::engine {
namespace {

// What the device adds to works of each kind.
std::vector<lower::DeviceDelays> DelaysByKind(
    const cost::OverheadTable& table) {
  std::vector<lower::DeviceDelays> delays;
  for (const std::string_view kind : ir::Names<ir::WorkKind>::kList) {
    const auto mean = [&](cost::OverheadPart part) {
      return FromMicroseconds(table.Lookup(part, kind).row.mean_us);
    };
    delays.push_back({.launch = mean(cost::OverheadPart::kLaunchLatency),
                      .gap = mean(cost::OverheadPart::kWorkGap),
                      .stream_wait = mean(cost::OverheadPart::kStreamWait)});
  }
  return delays;
}

lower::WorkTimes MakeTimes(const ir::GraphData& data, const PricedWorks& priced,
                           const cost::OverheadTable* table,
                           const lower::MeasuredTimes* measured) {
  lower::WorkTimes times;
  if (measured != nullptr) {
    times = measured->times;
  } else {
    times.works = IdVector<ir::WorkId, lower::WorkTime>(data.works.size());
    times.wait_delays.assign(data.stream_waits.size(), {});
  }
  for (const ir::WorkId id : data.works.ids()) {
    times.works[id].duration = FromMicroseconds(priced.prices[id].p50_us);
  }
  if (table == nullptr) {
    return times;
  }
  const auto delays = DelaysByKind(*table);
  const auto delays_of = [&](ir::WorkId id) -> const lower::DeviceDelays& {
    return delays[static_cast<size_t>(data.works[id].kind)];
  };
  for (const ir::WorkId id : data.works.ids()) {
    times.works[id].launch = delays_of(id).launch;
    times.works[id].gap = delays_of(id).gap;
  }
  for (size_t i = 0; i < data.stream_waits.size(); ++i) {
    times.wait_delays[i] = delays_of(data.stream_waits[i].after).stream_wait;
  }
  return times;
}

// Simulates the works at their prices.
Status Run(const Scenario& scenario, const PredictOptions& options,
           const lower::MeasuredTimes* measured, StepResult& result) {
  const ir::Graph& graph = *scenario.graph;
  ASSIGN_OR_RETURN(
      result.lowered,
      lower::Lower(
          graph, result.plan,
          MakeTimes(graph.data(), result.works, scenario.overheads, measured),
          {.repeats = options.repeats,
           .rank_offsets = options.rank_offsets,
           .synchronous = scenario.models->machine().device.generation ==
                          hw::Generation::kCpu}));
  result.schedule = sim::Simulate(result.lowered.tasks);
  return {};
}

}  // namespace

Result<StepResult> Predict(const Scenario& scenario,
                           const PredictOptions& options) {
  const ir::Graph& graph = *scenario.graph;
  const ir::GraphData& data = graph.data();
  const bool timed = graph.is_timed();
  if (!timed && scenario.overheads == nullptr) {
    return Fail(ErrorCode::kInvalidInput,
                "the graph has no measured host times; expected a set of "
                "overheads");
  }
  std::optional<lower::MeasuredTimes> measured;
  if (timed) {
    measured = lower::TakeMeasuredTimes(data);
  }
  StepResult result;
  result.graph = scenario.graph;
  result.plan = scenario.overheads == nullptr
                    ? cost::MeasuredPlan(data)
                    : cost::PredictedPlan(graph, *scenario.overheads,
                                          {.profiled = options.profiled},
                                          &result.overheads);
  result.works = PriceWorks(data, *scenario.models,
                            timed ? &measured->times : nullptr, options.price);
  const lower::MeasuredTimes* const recorded = timed ? &*measured : nullptr;
  RETURN_IF_ERROR(Run(scenario, options, recorded, result));
  if (!timed && options.price.collectives.models != nullptr) {
    // What is in whose way depends on how long each takes: the second round
    // settles nearly all of it.
    constexpr int kMostRounds = 3;
    const PricedWorks alone = result.works;
    for (int round = 0; round < kMostRounds &&
                        ShareLinks(data, options.price, alone, result.lowered,
                                   result.schedule, result.works);
         ++round) {
      RETURN_IF_ERROR(Run(scenario, options, recorded, result));
    }
  }
  TakeSchedule(SpansOf(result.lowered, result.schedule), result);
  const std::vector<int64_t>& counts = options.price.collectives.rank_counts;
  for (size_t i = 0; i < std::min(counts.size(), result.accounts.size()); ++i) {
    result.accounts[i].alike = counts[i];
  }
  if (options.samples > 0) {
    result.interval = SampleInterval(result, options);
  }
  return result;
}

}  // namespace stepcast::engine
