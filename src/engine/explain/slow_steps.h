// How long all recorded steps took, and why some of them took longer.
#ifndef STEPCAST_ENGINE_EXPLAIN_SLOW_STEPS_H_
#define STEPCAST_ENGINE_EXPLAIN_SLOW_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "engine/explain/account.h"
#include "engine/run/replay.h"
#include "trace/classify/rules.h"
#include "trace/read/load.h"

namespace stepcast::engine {

/// A step compared with the one of median length, on the rank that took
/// longest.
struct SlowStep {
  std::optional<int64_t> step{};
  Duration measured{};  // ReplayedStep::length.
  int64_t rank = 0;
  RankAccount usual{};  // Of that rank in the median step,
  RankAccount slow{};   // and in this one.
  /// What the host did longer, the most first (Attribution::host_parts).
  std::vector<std::pair<std::string, Duration>> host{};
  /// Of the collective with the longest wait: why its last rank came late.
  std::string blame{};
};

/// Of the steps that were replayed; of each step its longest rank.
struct StepStatistics {
  size_t steps = 0;
  Duration shortest{};
  Duration p10{};
  Duration median{};  // Of the step that the job reports: one that was there.
  Duration p90{};
  Duration longest{};
  // Shares of the step in which the GPU was active.
  double active_p10 = 0;
  double active_median = 0;
  double active_p90 = 0;
  std::vector<SlowStep> slow{};  // In order.
};

/// Longer than the median by this factor is slow: steps of a steady loop differ
/// by a few percent.
inline constexpr double kSlowFactor = 1.2;

/// Replays the slow steps of `job`, which was made of the same ranks, once more
/// to compare them with the one that it reports.
StepStatistics SummarizeSteps(std::span<const trace::RankTrace> ranks,
                              const trace::Rules& rules, const ReplayedJob& job,
                              size_t threads);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_EXPLAIN_SLOW_STEPS_H_
