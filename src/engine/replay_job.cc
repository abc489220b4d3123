#include "engine/replay_job.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "base/units.h"
#include "ingest/build_graph.h"
#include "ingest/step_number.h"

namespace stepcast::engine {
namespace {

using StepName = std::optional<int64_t>;

// A step, replayed or not.
struct Attempt {
  std::vector<ReplayedRank> ranks{};
  std::string why{};  // Not.
};

Result<Replay> ReplayOne(const ingest::GraphMaker& graphs, StepName step) {
  Diagnostics ignored;
  ASSIGN_OR_RETURN(ir::Graph graph, graphs.Make({.step = step}, ignored));
  return ReplayStep(std::make_shared<const ir::Graph>(std::move(graph)));
}

void SumUp(ReplayedJob& job) {
  Errors errors;
  for (const ReplayedStep& step : job.steps) {
    for (const ReplayedRank& rank : step.ranks) {
      errors.Add(1 + rank.error(), 1);
      job.max_abs_pct =
          std::max(job.max_abs_pct, kPercent * std::abs(rank.error()));
      job.max_unexplained = std::max(job.max_unexplained, rank.unexplained);
    }
  }
  job.errors = errors.Summary();
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
  for (const ReplayedRank& rank : ranks) {
    longest = std::max(longest, rank.measured);
  }
  return longest;
}

Result<ReplayedJob> ReplayJob(std::span<const ingest::RankTrace> ranks,
                              const ingest::Rules& rules,
                              const ReplayOptions& options) {
  // The one that is reported in full, unless it cannot be replayed.
  ASSIGN_OR_RETURN(const StepName chosen,
                   ingest::StepNumber(ranks, options.step));
  const std::vector<StepName> names = options.step || !chosen
                                          ? std::vector<StepName>{chosen}
                                          : ingest::CommonSteps(ranks);
  const ingest::GraphMaker graphs(ranks, rules);
  std::optional<Result<Replay>> full;
  std::vector<Attempt> attempts(names.size());
  ParallelFor(names.size(), options.threads, [&](size_t i) {
    Result<Replay> replay = ReplayOne(graphs, names[i]);
    attempts[i] = replay ? Attempt{.ranks = replay->ranks}
                         : Attempt{.why = replay.error().message};
    if (names[i] == chosen) {
      full = std::move(replay);
    }
  });
  ReplayedJob job;
  for (size_t i = 0; i < names.size(); ++i) {
    if (attempts[i].why.empty()) {
      job.steps.push_back(
          {.step = names[i], .ranks = std::move(attempts[i].ranks)});
    } else {
      job.skipped.push_back(
          {.step = names[i], .why = std::move(attempts[i].why)});
    }
  }
  job.step = chosen;
  if (!*full && !job.steps.empty()) {
    job.step = job.steps[MedianOf(job.steps)].step;
    full = ReplayOne(graphs, job.step);
  }
  if (!*full) {
    return tl::unexpected(std::move(*full).error());
  }
  SumUp(job);
  job.replay = **std::move(full);
  return job;
}

}  // namespace stepcast::engine
