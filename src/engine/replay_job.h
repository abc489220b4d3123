// All steps of a recording, each replayed from its own durations.
#ifndef STEPCAST_ENGINE_REPLAY_JOB_H_
#define STEPCAST_ENGINE_REPLAY_JOB_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "base/units.h"
#include "engine/replay.h"
#include "ingest/load.h"
#include "ingest/rules.h"

namespace stepcast::engine {

/// Only profiler traces number their steps; a graph file has one without.
struct ReplayedStep {
  std::optional<int64_t> step{};
  std::vector<ReplayedRank> ranks{};
  /// Of the longest rank.
  Duration measured() const;
};

struct UnreplayedStep {
  std::optional<int64_t> step{};
  std::string why{};
};

struct ReplayedJob {
  std::vector<ReplayedStep> steps{};  // In order.
  std::vector<UnreplayedStep> skipped{};
  ErrorSummary errors{};  // Over all steps and ranks.
  double max_abs_pct = 0;
  Duration max_unexplained{};     // Of a rank's step.
  std::optional<int64_t> step{};  // The one reported in full,
  Replay replay{};                // and all that is known of it.
};

struct ReplayOptions {
  std::optional<int64_t> step{};  // That alone; without it all of them.
  size_t threads = 0;             // 0: one a core.
};

/// Replays every step that all ranks have; the one of median length in
/// full. A step that cannot be replayed is skipped. Fails if that leaves none.
Result<ReplayedJob> ReplayJob(std::span<const ingest::RankTrace> ranks,
                              const ingest::Rules& rules,
                              const ReplayOptions& options);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_REPLAY_JOB_H_
