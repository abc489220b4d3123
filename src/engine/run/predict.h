// How long a step takes: its activities priced, its host's time from a table of
// overheads, both simulated together.
#ifndef STEPCAST_ENGINE_RUN_PREDICT_H_
#define STEPCAST_ENGINE_RUN_PREDICT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "cost/kernel_models.h"
#include "cost/overheads/overhead_table.h"
#include "engine/explain/step_result.h"
#include "engine/run/price_activities.h"
#include "ir/graph.h"
#include "sim/simulate.h"
#include "timeline/lower.h"

namespace stepcast::engine {

// Transfers of a rank that use one link at the same time take turns on it.

/// The links of a GPU, as bits: one way over PCIe does not slow the other.
enum LinkBit : uint8_t {
  kFabric = 1,  // Between the GPUs of a node: NVLink.
  kNetwork = 2,
  kToDevice = 4,
  kFromDevice = 8,
};

/// A transfer as it would be alone.
struct Transfer {
  double start_us = 0;
  double alone_us = 0;
  uint8_t links = 0;
  /// Of a link's rate, what it takes while it runs; the rest is latency.
  double share = 0;
};

/// How long each takes if links are shared: one that is wanted beyond its rate
/// slows all that use it alike, and each is as slow as its slowest link. At
/// least alone_us.
std::vector<double> ShareLinks(std::span<const Transfer> transfers);

/// Makes the prices of activities longer that were in each other's way in
/// `schedule`. `alone` are their prices on idle links. Activities of one
/// collective take as long as its slowest. False if no price changed.
bool ShareLinks(const ir::GraphData& data, const PriceOptions& options,
                const PricedActivities& alone, const timeline::Lowered& lowered,
                const sim::Schedule& schedule, PricedActivities& prices);

/// What a prediction depends on. All but the graph lives elsewhere.
struct Scenario {
  std::shared_ptr<const ir::Graph> graph;
  const cost::KernelModels* models = nullptr;
  /// Without one the host's time is as it was measured.
  const cost::OverheadTable* overheads = nullptr;
};

struct PredictOptions {
  /// Steps run back to back, the last of which is reported: what is still
  /// running after one step delays the next, as in training. 1 for a step as it
  /// was traced.
  uint32_t repeats = 3;
  bool profiled = false;      // With the time that a profiler takes.
  bool rank_offsets = false;  // Ranks start where they were measured to.
  PriceOptions price{};
  /// Monte Carlo samples for the interval; 0 for none.
  uint32_t samples = 0;
  uint64_t seed = 1;
  /// How far hosts of one kind differ, as the standard deviation of the
  /// logarithm.
  double host_spread = 0.1;
  /// How far whole steps differ by server and software release, likewise. 0 for
  /// recorded steps, whose server and release are those of the recording.
  double system_spread = 0;
};

/// Fails where collectives of the ranks can never complete, or where the host's
/// time is neither in a table nor measured.
Result<StepResult> Predict(const Scenario& scenario,
                           const PredictOptions& options);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_RUN_PREDICT_H_
