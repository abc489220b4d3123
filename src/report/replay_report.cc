#include "report/replay_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "base/units.h"
#include "engine/path_parts.h"
#include "ingest/build_graph.h"
#include "report/step_number.h"

namespace stepcast::report {
namespace {

using StepName = std::optional<int64_t>;

// A step, replayed or not.
struct Attempt {
  std::vector<engine::ReplayedRank> ranks{};
  std::string why{};  // Not.
};

struct Replayed {
  ir::Graph graph;
  engine::Replay replay;
};

Result<Replayed> ReplayOne(const ingest::GraphMaker& graphs, StepName step) {
  Diagnostics ignored;
  ASSIGN_OR_RETURN(ir::Graph graph, graphs.Make({.step = step}, ignored));
  ASSIGN_OR_RETURN(engine::Replay replay, engine::ReplayStep(graph));
  return Replayed{.graph = std::move(graph), .replay = std::move(replay)};
}

StepDetails DetailsOf(const Replayed& replayed, StepName step) {
  const ir::Graph& graph = replayed.graph;
  const engine::Replay& replay = replayed.replay;
  const std::vector<engine::PathPart> parts = engine::DescribePath(
      graph.data(), replay.plan, replay.lowered, replay.critical_path);
  StepDetails details{.step = step,
                      .accounts = replay.accounts,
                      .collectives = replay.collectives,
                      .path = SummarizePath(graph, replay.lowered, parts),
                      .unexplained = replay.unexplained,
                      .unplaced = replay.plan.unplaced,
                      .overlaps = replay.times.overlaps};
  if (!parts.empty()) {
    details.path_rank = graph.data().ranks[parts.back().rank].number;
  }
  return details;
}

void SumUp(ReplayReport& report) {
  Errors errors;
  for (const ReplayedStep& step : report.steps) {
    for (const engine::ReplayedRank& rank : step.ranks) {
      errors.Add(1 + rank.error(), 1);
      report.max_abs_pct =
          std::max(report.max_abs_pct, kPercent * std::abs(rank.error()));
      report.max_unexplained =
          std::max(report.max_unexplained, rank.unexplained);
    }
  }
  report.errors = errors.Summary();
}

// The step of median length.
size_t MedianOf(const std::vector<ReplayedStep>& steps) {
  std::vector<std::pair<Duration, size_t>> lengths;
  for (size_t i = 0; i < steps.size(); ++i) {
    lengths.emplace_back(steps[i].measured(), i);
  }
  std::ranges::sort(lengths);
  return lengths[(lengths.size() - 1) / 2].second;
}

}  // namespace

Duration ReplayedStep::measured() const {
  Duration longest{};
  for (const engine::ReplayedRank& rank : ranks) {
    longest = std::max(longest, rank.measured);
  }
  return longest;
}

Result<ReplayedJob> ReplayJob(std::span<const ingest::RankTrace> ranks,
                              const ingest::Rules& rules,
                              const ReplayOptions& options) {
  // The one that is told in full, unless it cannot be replayed.
  ASSIGN_OR_RETURN(const StepName chosen, StepNumber(ranks, options.step));
  const std::vector<StepName> names = options.step || !chosen
                                          ? std::vector<StepName>{chosen}
                                          : CommonSteps(ranks);
  const ingest::GraphMaker graphs(ranks, rules);
  std::optional<Result<Replayed>> full;
  std::vector<Attempt> attempts(names.size());
  ParallelFor(names.size(), options.threads, [&](size_t i) {
    Result<Replayed> replayed = ReplayOne(graphs, names[i]);
    attempts[i] = replayed ? Attempt{.ranks = replayed->replay.ranks}
                           : Attempt{.why = replayed.error().message};
    if (names[i] == chosen) {
      full = std::move(replayed);
    }
  });
  ReplayReport report;
  for (size_t i = 0; i < names.size(); ++i) {
    if (attempts[i].why.empty()) {
      report.steps.push_back(
          {.step = names[i], .ranks = std::move(attempts[i].ranks)});
    } else {
      report.skipped.push_back(
          {.step = names[i], .why = std::move(attempts[i].why)});
    }
  }
  StepName told = chosen;
  if (!*full && !report.steps.empty()) {
    told = report.steps[MedianOf(report.steps)].step;
    full = ReplayOne(graphs, told);
  }
  if (!*full) {
    return tl::unexpected(std::move(*full).error());
  }
  SumUp(report);
  report.details = DetailsOf(**full, told);
  return ReplayedJob{.report = std::move(report),
                     .graph = std::move((*full)->graph),
                     .replay = std::move((*full)->replay)};
}

}  // namespace stepcast::report
