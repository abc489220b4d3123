// How long a step takes: its works priced, its host's time from a table of
// overheads, both simulated together.
#ifndef STEPCAST_ENGINE_PREDICT_H_
#define STEPCAST_ENGINE_PREDICT_H_

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "cost/kernel_models.h"
#include "cost/overheads/overhead_table.h"
#include "engine/price_works.h"
#include "engine/step_result.h"
#include "ir/graph.h"

namespace stepcast::engine {

/// What a prediction depends on. All but the graph lives elsewhere.
struct Scenario {
  std::shared_ptr<const ir::Graph> graph;
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

/// Fails where collectives of the ranks can never meet, or where the host's
/// time is neither in a table nor measured.
Result<StepResult> Predict(const Scenario& scenario,
                           const PredictOptions& options);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_PREDICT_H_
