// How long a step takes: its works priced, its host's time from a table of
// overheads, both simulated together.
#ifndef STEPCAST_ENGINE_PREDICT_H_
#define STEPCAST_ENGINE_PREDICT_H_

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cost/kernel_models.h"
#include "cost/overheads/host_plan.h"
#include "cost/overheads/overhead_table.h"
#include "cost/overheads/predicted_plan.h"
#include "engine/account.h"
#include "engine/price_works.h"
#include "ir/graph.h"
#include "lower/lower.h"
#include "sim/critical_path.h"
#include "sim/simulate.h"

namespace stepcast::engine {

/// What a prediction depends on. The parts live elsewhere.
struct Scenario {
  const ir::Graph* graph = nullptr;
  const cost::KernelModels* models = nullptr;
  /// Without one the host's time is as it was measured.
  const cost::OverheadTable* overheads = nullptr;
};

struct PredictOptions {
  /// Steps run back to back, the last of which is told: what the first leaves
  /// behind delays the next as in training. 1 for a step as it was traced.
  uint32_t repeats = 3;
  bool profiled = false;      // With the time that a profiler takes.
  bool rank_offsets = false;  // Ranks start where they were measured to.
  PriceOptions price{};
  /// Draws for the interval; 0 for none.
  uint32_t samples = 0;
  uint64_t seed = 1;
  /// How far hosts of one kind differ, as the standard deviation of the
  /// logarithm.
  double host_spread = 0.1;
  /// How far whole steps differ by server and software release, likewise. 0 for
  /// recorded steps, whose server and release are those of the recording.
  double system_spread = 0;
};

struct StepInterval {
  Duration p10{};
  Duration p50{};
  Duration p90{};
};

struct Prediction {
  Duration step{};  // Of the slowest rank.
  StepInterval interval{};
  std::vector<RankAccount> accounts;
  std::vector<StepSpan> spans;
  PricedWorks works;
  cost::OverheadCoverage overheads;
  cost::HostPlan plan;
  lower::Lowered lowered;
  sim::Schedule schedule;
  std::vector<sim::PathStep> critical_path;

  /// The rank whose step takes longest; the first of several.
  size_t slowest() const;
};

/// Fails where collectives of the ranks can never meet, or where the host's
/// time is neither in a table nor measured.
Result<Prediction> Predict(const Scenario& scenario,
                           const PredictOptions& options);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_PREDICT_H_
