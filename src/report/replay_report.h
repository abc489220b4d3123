// Measured steps beside the same steps simulated from their own durations.
#ifndef STEPCAST_REPORT_REPLAY_REPORT_H_
#define STEPCAST_REPORT_REPLAY_REPORT_H_

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
#include "ir/graph.h"
#include "report/path_summary.h"

namespace stepcast::report {

/// Only profiler traces number their steps; a graph file has one without.
struct ReplayedStep {
  std::optional<int64_t> step{};
  std::vector<engine::ReplayedRank> ranks{};
  /// Of the longest rank.
  Duration measured() const;
};

struct UnreplayedStep {
  std::optional<int64_t> step{};
  std::string why{};
};

/// One step in full.
struct StepDetails {
  std::optional<int64_t> step{};
  std::vector<engine::RankAccount> accounts{};
  std::vector<engine::CollectiveBlame> collectives{};
  PathSummary path{};
  int64_t path_rank = 0;                           // Whose end it leads to.
  std::vector<engine::Unexplained> unexplained{};  // The largest first.
  size_t unplaced = 0;  // Ops and calls without a time, left out.
  size_t overlaps = 0;  // Works that overlap on one stream, cut.
};

struct ReplayReport {
  std::vector<ReplayedStep> steps{};  // In order.
  std::vector<UnreplayedStep> skipped{};
  ErrorSummary errors{};  // Over all steps and ranks.
  double max_abs_pct = 0;
  Duration max_unexplained{};  // Of a rank's step.
  StepDetails details{};
};

/// What was replayed, with the step that `details` tell of.
struct ReplayedJob {
  ReplayReport report;
  ir::Graph graph;
  engine::Replay replay;
};

struct ReplayOptions {
  std::optional<int64_t> step{};  // That alone; without it all of them.
  size_t threads = 0;             // 0: one a core.
};

/// Replays every step that all ranks have; the one of median length is told in
/// full. A step that cannot be replayed is skipped. Fails if that leaves none.
Result<ReplayedJob> ReplayJob(std::span<const ingest::RankTrace> ranks,
                              const ingest::Rules& rules,
                              const ReplayOptions& options);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_REPLAY_REPORT_H_
