#include "learn/fit/overheads/held_out_overheads.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/stats.h"
#include "sim/simulate.h"
#include "timeline/lower.h"
#include "timeline/measured_times.h"
#include "timeline/predicted_plan.h"
#include "timeline/silent_waits.h"
#include "trace/build/build_graph.h"

namespace stepcast::learn {
namespace {

// Steps longer than this share of the median are not steady.
constexpr double kLongest = 1.5;

Duration LongestRank(const ir::GraphData& data) {
  Duration longest{};
  for (const ir::Rank& rank : data.ranks) {
    longest = std::max(longest, rank.step ? rank.step->duration : Duration{});
  }
  return longest;
}

// Simulates a step with the given plan and its own activities.
Status AddRows(const StepGraph& step, const timeline::HostPlan& plan,
               HeldOut& held_out) {
  const ir::GraphData& data = step.graph.data();
  const timeline::MeasuredTimes times = timeline::TakeMeasuredTimes(data);
  ASSIGN_OR_RETURN(const timeline::Lowered lowered,
                   timeline::Lower(step.graph, plan, times.times, {}));
  const sim::Schedule schedule = sim::Simulate(lowered.tasks);
  for (const ir::RankId rank : data.ranks.ids()) {
    const Duration end =
        schedule.placements[lowered.rank_ends.back()[rank]].end;
    held_out.rows.push_back({.step = step.step,
                             .rank = data.ranks[rank].number,
                             .measured = data.ranks[rank].step->duration,
                             .predicted = end - lowered.rank_starts[rank]});
  }
  return {};
}

using Tables = IdVector<ir::RankId, cost::OverheadTable>;

// The plan of a step, each rank's from a table of its own.
timeline::HostPlan PlanOf(const ir::Graph& graph, const Tables& tables) {
  const ir::GraphData& data = graph.data();
  timeline::HostPlan plan = timeline::MeasuredPlan(data);
  for (const ir::RankId rank : data.ranks.ids()) {
    timeline::HostPlan predicted = timeline::PredictedPlan(graph, tables[rank]);
    for (const ir::ThreadId thread : data.threads.ids()) {
      if (data.threads[thread].rank == rank) {
        plan.threads[thread] = std::move(predicted.threads[thread]);
      }
    }
  }
  return plan;
}

// A table a rank, of its own samples in some steps, or of all others' in them.
Tables FitRanks(std::span<const StepGraph* const> steps, bool own,
                const FitOverheadsOptions& options) {
  Tables tables;
  const ir::GraphData& first = steps.front()->graph.data();
  for (const ir::RankId rank : first.ranks.ids()) {
    OverheadSamples samples;
    for (const StepGraph* step : steps) {
      AddSamples(step->graph.data(), 0, samples,
                 [&](ir::RankId other) { return (other == rank) == own; });
    }
    tables.push_back(cost::OverheadTable(FitOverheads(samples, options)));
  }
  return tables;
}

Duration TimeOf(const timeline::HostPlan& plan) {
  Duration time{};
  for (const std::vector<timeline::HostSegment>& segments : plan.threads) {
    for (const timeline::HostSegment& segment : segments) {
      time += segment.duration;
    }
  }
  return time;
}

void AddHostTimes(const ir::GraphData& data,
                  const timeline::HostPlan& predicted, HeldOut& held_out) {
  const timeline::HostPlan measured = timeline::MeasuredPlan(data);
  Duration silent{};
  for (const timeline::SilentWait& wait :
       timeline::FindSilentWaits(data, measured)) {
    silent += measured.threads[wait.thread][wait.segment].duration;
  }
  held_out.silent += silent;
  held_out.host_measured += TimeOf(measured) - silent;
  held_out.host_predicted += TimeOf(predicted) - silent;
}

Status AddStep(const StepGraph& step, const timeline::HostPlan& plan,
               HeldOut& held_out) {
  AddHostTimes(step.graph.data(), plan, held_out);
  return AddRows(step, plan, held_out);
}

std::vector<const StepGraph*> Steady(std::span<const StepGraph> steps) {
  const std::vector<bool> steady = SteadySteps(steps);
  std::vector<const StepGraph*> kept;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steady[i]) {
      kept.push_back(&steps[i]);
    }
  }
  return kept;
}

}  // namespace

Result<std::vector<StepGraph>> BuildStepGraphs(
    std::span<const trace::RankTrace> ranks, const trace::Rules& rules,
    Diagnostics& diagnostics) {
  std::optional<std::set<int64_t>> numbers;  // That every rank has.
  for (const trace::RankTrace& rank : ranks) {
    std::set<int64_t> own;
    for (size_t i = 0; rank.profiler && i < rank.profiler->steps.size(); ++i) {
      const int64_t number = rank.profiler->steps[i].number;
      if (!numbers || numbers->contains(number)) {
        own.insert(number);
      }
    }
    numbers = std::move(own);
  }
  std::vector<std::optional<int64_t>> wanted;
  if (numbers) {
    wanted.assign(numbers->begin(), numbers->end());
  }
  if (wanted.empty()) {
    wanted.emplace_back();  // A graph, which is one step.
  }
  const trace::GraphMaker maker(ranks, rules);
  std::vector<StepGraph> graphs;
  for (const std::optional<int64_t>& number : wanted) {
    ASSIGN_OR_RETURN(ir::Graph graph,
                     maker.Make({.step = number}, diagnostics));
    for (const ir::Rank& rank : graph.data().ranks) {
      if (!rank.step) {
        return Fail(ErrorCode::kInvalidInput,
                    fmt::format("rank {} has no measured step; expected the "
                                "trace of a profiler",
                                rank.number));
      }
    }
    graphs.push_back({.step = number.value_or(0), .graph = std::move(graph)});
  }
  return graphs;
}

std::vector<bool> SteadySteps(std::span<const StepGraph> steps) {
  const auto length_of = [](const StepGraph& step) {
    return static_cast<double>(LongestRank(step.graph.data()).count());
  };
  std::vector<double> lengths;  // Of steps with ops, if there are any.
  for (const StepGraph& step : steps) {
    if (!step.graph.data().ops.empty()) {
      lengths.push_back(length_of(step));
    }
  }
  const bool any_ops = !lengths.empty();
  for (size_t i = 0; !any_ops && i < steps.size(); ++i) {
    lengths.push_back(length_of(steps[i]));
  }
  const double most = kLongest * Quantile(lengths, 0.5);
  std::vector<bool> steady;
  steady.reserve(steps.size());
  for (const StepGraph& step : steps) {
    steady.push_back(length_of(step) <= most &&
                     !(any_ops && step.graph.data().ops.empty()));
  }
  return steady;
}

Result<HeldOut> PredictHeldOut(std::span<const StepGraph> steps,
                               const FitOverheadsOptions& options) {
  const std::vector<const StepGraph*> kept = Steady(steps);
  std::array<std::vector<const StepGraph*>, 2> halves;
  for (size_t i = 0; i < kept.size(); ++i) {
    halves[i % 2].push_back(kept[i]);
  }
  const bool by_rank = halves[1].empty();
  if (kept.empty() ||
      (by_rank && kept.front()->graph.data().ranks.size() < 2)) {
    return Fail(ErrorCode::kInvalidInput,
                "one step of one rank has no other half; expected two steps or "
                "two ranks");
  }
  HeldOut held_out{.by_rank = by_rank, .unsteady = steps.size() - kept.size()};
  std::array<Tables, 2> tables;
  tables[0] = FitRanks(halves[0], !by_rank, options);
  if (!by_rank) {
    tables[1] = FitRanks(halves[1], true, options);
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    const Tables& others = tables[by_rank ? 0 : 1 - i % 2];
    RETURN_IF_ERROR(
        AddStep(*kept[i], PlanOf(kept[i]->graph, others), held_out));
  }
  return held_out;
}

Result<HeldOut> PredictFrom(const cost::OverheadTable& table,
                            std::span<const StepGraph> steps) {
  const std::vector<const StepGraph*> kept = Steady(steps);
  HeldOut held_out{.unsteady = steps.size() - kept.size()};
  for (const StepGraph* step : kept) {
    RETURN_IF_ERROR(
        AddStep(*step, timeline::PredictedPlan(step->graph, table), held_out));
  }
  return held_out;
}

}  // namespace stepcast::learn
