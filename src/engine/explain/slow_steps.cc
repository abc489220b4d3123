#include "engine/explain/slow_steps.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "base/stats.h"
#include "engine/explain/attribution.h"
#include "trace/build/build_graph.h"

namespace stepcast::engine {
namespace {

Duration QuantileOf(const std::vector<double>& nanoseconds, double share) {
  return std::chrono::round<Duration>(
      std::chrono::duration<double, std::nano>(Quantile(nanoseconds, share)));
}

// The rank that took longest; the first of several.
size_t LongestRank(const ReplayedStep& step) {
  const auto longest =
      std::ranges::max_element(step.ranks, {}, &ReplayedRank::measured);
  return static_cast<size_t>(longest - step.ranks.begin());
}

using HostParts = std::map<std::string, Duration>;

HostParts HostPartsOf(const StepResult& result, size_t rank) {
  return Attribute(result, ir::RankId{static_cast<uint32_t>(rank)}).host_parts;
}

// What `slow` has more of, the most first.
std::vector<std::pair<std::string, Duration>> MoreOf(HostParts slow,
                                                     const HostParts& usual) {
  for (const auto& [what, time] : usual) {
    slow[what] -= time;
  }
  std::vector<std::pair<std::string, Duration>> more;
  for (const auto& [what, time] : slow) {
    if (time > Duration{}) {
      more.emplace_back(what, time);
    }
  }
  std::ranges::stable_sort(
      more, [](const auto& a, const auto& b) { return a.second > b.second; });
  return more;
}

void Compare(const StepResult& usual, const Replay& replay, size_t rank,
             SlowStep& step) {
  step.usual = usual.accounts[rank];
  step.slow = replay.result.accounts[rank];
  step.host =
      MoreOf(HostPartsOf(replay.result, rank), HostPartsOf(usual, rank));
  const auto longest = std::ranges::max_element(replay.collectives, {},
                                                &CollectiveBlame::start_skew);
  if (longest != replay.collectives.end()) {
    step.blame = longest->blame;
  }
}

}  // namespace

StepStatistics SummarizeSteps(std::span<const trace::RankTrace> ranks,
                              const trace::Rules& rules, const ReplayedJob& job,
                              size_t threads) {
  StepStatistics found{.steps = job.steps.size()};
  std::vector<double> lengths;
  std::vector<double> active;
  for (const ReplayedStep& step : job.steps) {
    const ReplayedRank& rank = step.ranks[LongestRank(step)];
    lengths.push_back(static_cast<double>(step.length().count()));
    active.push_back(
        rank.measured.count() == 0
            ? 0
            : static_cast<double>(rank.gpu_active_measured.count()) /
                  static_cast<double>(rank.measured.count()));
  }
  constexpr double kLow = 0.1;
  constexpr double kHigh = 0.9;
  found.shortest = QuantileOf(lengths, 0);
  found.p10 = QuantileOf(lengths, kLow);
  std::vector<double> sorted = lengths;
  std::ranges::sort(sorted);
  found.median =
      Duration(static_cast<int64_t>(sorted[(sorted.size() - 1) / 2]));
  found.p90 = QuantileOf(lengths, kHigh);
  found.longest = QuantileOf(lengths, 1);
  found.active_p10 = Quantile(active, kLow);
  found.active_median = Quantile(active, 1.0 / 2);
  found.active_p90 = Quantile(active, kHigh);
  std::vector<size_t> slow;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > kSlowFactor * static_cast<double>(found.median.count())) {
      slow.push_back(i);
    }
  }
  if (slow.empty()) {
    return found;
  }
  const trace::GraphMaker graphs(ranks, rules);
  found.slow.resize(slow.size());
  ParallelFor(slow.size(), threads, [&](size_t i) {
    const ReplayedStep& step = job.steps[slow[i]];
    const size_t rank = LongestRank(step);
    found.slow[i] = {.step = step.step,
                     .measured = step.length(),
                     .rank = step.ranks[rank].rank};
    Diagnostics ignored;
    Result<ir::Graph> graph = graphs.Make({.step = step.step}, ignored);
    if (!graph) {
      return;  // It was replayed before, so this does not happen.
    }
    const Result<Replay> replay =
        ReplayStep(std::make_shared<const ir::Graph>(*std::move(graph)));
    if (replay) {
      Compare(job.replay.result, *replay, rank, found.slow[i]);
    }
  });
  return found;
}

}  // namespace stepcast::engine
