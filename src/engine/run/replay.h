// Runs a measured step again from its own durations and compares.
#ifndef STEPCAST_ENGINE_RUN_REPLAY_H_
#define STEPCAST_ENGINE_RUN_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "base/units.h"
#include "engine/explain/step_result.h"
#include "engine/run/steady_step.h"
#include "ir/graph.h"
#include "sim/simulate.h"
#include "timeline/host_plan.h"
#include "timeline/lower.h"
#include "trace/classify/rules.h"
#include "trace/read/load.h"

namespace stepcast::engine {

// Who made the other ranks wait in a collective, and by what.

///   rank 0   [==============================]
///   rank 1                 [================]
///   rank 2                          [========]
///            |<--- start skew ----->|<- own ->|
struct CollectiveBlame {
  ir::CollectiveId id{};
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  Duration start{};       // The first start.
  Duration start_skew{};  // First start to last start.
  Duration own{};         // Last start to last end.
  int64_t last_rank = 0;
  std::vector<int64_t> ranks{};   // Taking part.
  std::vector<Duration> waits{};  // Of each of them, for the last.
  /// Why the last rank came late, in one line; empty if it hardly did.
  std::string blame{};
};

/// In order of their last start.
std::vector<CollectiveBlame> BlameCollectives(const ir::Graph& graph,
                                              const timeline::HostPlan& plan,
                                              const timeline::Lowered& lowered,
                                              const sim::Schedule& schedule);

/// Time that the graph gives no cause for.
struct Unexplained {
  int64_t rank = 0;
  std::string what;  // "gemm kernel started so long after its launch".
  Duration at{};     // From the rank's start of the step.
  Duration time{};
};

/// One rank's step, measured and simulated.
struct ReplayedRank {
  int64_t rank = 0;
  Duration measured{};
  Duration simulated{};
  Duration gpu_active_measured{};
  Duration gpu_active_simulated{};
  Duration unexplained{};  // Sum of its entries.
  /// Relative to measured; 0 for a step of no length.
  double error() const {
    return measured.count() == 0
               ? 0
               : static_cast<double>((simulated - measured).count()) /
                     static_cast<double>(measured.count());
  }
};

/// A simulated step compared to the measured one.
struct Replay {
  StepResult result;
  std::vector<ReplayedRank> ranks;
  std::vector<CollectiveBlame> collectives;
  std::vector<Unexplained> unexplained;  // The largest first.
  size_t overlaps = 0;  // Activities that overlap on one stream, cut.
};

/// Whether a step can be run from its own durations: it has times, and a host
/// that can be seen to take them.
Status CheckReplayable(const ir::GraphData& data);

/// Prices that are what the activities took.
PricedActivities MeasuredActivities(const ir::GraphData& data,
                                    const timeline::ActivityTimes& times);

/// Fails if a rank has no measured step or nothing of its host in it, or if
/// collectives can never complete.
Result<Replay> ReplayStep(std::shared_ptr<const ir::Graph> graph);

// All steps of a recording, each replayed from its own durations.

/// Only profiler traces number their steps; a graph file has one without.
struct ReplayedStep {
  std::optional<int64_t> step{};
  std::vector<ReplayedRank> ranks{};
  /// The step that would repeat, of the slowest rank (SteadyStep).
  Duration steady{};
  /// From the end of the step before, with all that it had launched, to the end
  /// of this one (trace::StepDistances); not given for the first.
  std::optional<Duration> distance{};
  /// Of the longest rank.
  Duration measured() const;
  /// How far apart steps are, as far as it is known: a host that runs ahead
  /// says little by its own part.
  Duration length() const { return distance.value_or(measured()); }
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
  StepResult steady{};            // The same step as it would repeat.
  std::vector<HostLead> leads{};  // Of its ranks.
  /// The median of the distances between steps; not given for one step.
  std::optional<Duration> distance{};
};

struct ReplayOptions {
  std::optional<int64_t> step{};  // That alone; without it all of them.
  size_t threads = 0;             // 0: one a core.
};

/// Replays every step that all ranks have; the one of median length in
/// full. A step that cannot be replayed is skipped. Fails if that leaves none.
Result<ReplayedJob> ReplayJob(std::span<const trace::RankTrace> ranks,
                              const trace::Rules& rules,
                              const ReplayOptions& options);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_RUN_REPLAY_H_
