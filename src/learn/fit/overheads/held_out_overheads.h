// How well overheads of one half of a run predict the steps of the other.
#ifndef STEPCAST_LEARN_FIT_OVERHEADS_HELD_OUT_OVERHEADS_H_
#define STEPCAST_LEARN_FIT_OVERHEADS_HELD_OUT_OVERHEADS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "base/units.h"
#include "cost/overheads/overhead_table.h"
#include "ir/graph.h"
#include "learn/fit/overheads/fit_overheads.h"
#include "trace/classify/rules.h"
#include "trace/read/load.h"

namespace stepcast::learn {

struct StepGraph {
  int64_t step = 0;
  ir::Graph graph;
};

/// The graphs of all steps that every rank has, in their order. Fails if a rank
/// has no measured step.
Result<std::vector<StepGraph>> BuildStepGraphs(
    std::span<const trace::RankTrace> ranks, const trace::Rules& rules,
    Diagnostics& diagnostics);

/// Whether each step is no longer than one and a half times the median of those
/// with ops, and has ops if any has. Longer ones hold what does not come again:
/// the start of the profiler, first allocations, a garbage collection; one
/// without ops is a mark at the end of a recording.
std::vector<bool> SteadySteps(std::span<const StepGraph> steps);

struct HeldOutRank {
  int64_t step = 0;
  int64_t rank = 0;
  Duration measured{};
  Duration predicted{};
};

struct HeldOut {
  std::vector<HeldOutRank> rows{};
  bool by_rank = false;  // One step: each rank from the other ranks.
  size_t unsteady = 0;   // Steps left out.
  /// Silent waits of all ranks, which stay as measured.
  Duration silent{};
  /// The segments of all threads, without silent waits.
  Duration host_measured{};
  Duration host_predicted{};
};

/// The steady steps of a run, each simulated with its measured activities. A
/// rank's overheads are the means over its own steps of the other half: every
/// second one. Where there is one step, they are those of the other ranks.
/// Fails with one step of one rank.
Result<HeldOut> PredictHeldOut(std::span<const StepGraph> steps,
                               const FitOverheadsOptions& options);

/// The steady steps of a run, each simulated with its measured activities and
/// the overheads of a table.
Result<HeldOut> PredictFrom(const cost::OverheadTable& table,
                            std::span<const StepGraph> steps);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_OVERHEADS_HELD_OUT_OVERHEADS_H_
