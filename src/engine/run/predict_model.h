// How long a step of a model takes, and how much memory.
#ifndef STEPCAST_ENGINE_RUN_PREDICT_MODEL_H_
#define STEPCAST_ENGINE_RUN_PREDICT_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/explain/step_result.h"
#include "engine/run/predict.h"
#include "engine/run/request.h"
#include "model/memory.h"

namespace stepcast::engine {

struct ModelPrediction {
  StepResult result;
  model::Memory memory;  // Of the fullest rank.
  /// In memory, by rank of the graph.
  std::vector<double> rank_bytes;
  double memory_capacity = 0;
  double host_bytes = 0;     // Of tables, on a node.
  double host_capacity = 0;  // Of the node's memory.
  int64_t batch = 0;         // Per GPU, or per rank of servers.
  double power_w = 0;        // Of all servers; 0: no server in particular.
  std::optional<double> price_usd{};
  std::vector<std::string> notes{};  // What a reader should know of it.

  bool fits() const {
    return memory.total() <= memory_capacity && host_bytes <= host_capacity;
  }
};

/// The models of the request's machine are loaded.
Result<ModelPrediction> PredictModel(const Request& request,
                                     const PredictOptions& options);

/// What a rank of the machine gets of its server; without one, of a
/// workstation.
HostPricing HostPricingOf(const Machine& machine);

/// Published steps of one model and GPU differ by 3-10 % from server to server
/// and by 2-15 % from release to release; what a model file does not say of an
/// implementation adds to that. Chosen so that about 80 % of the published
/// steps lie between p10 and p90 (`stepcast eval steps`): no step was kept
/// back.
inline constexpr double kSystemSpread = 0.12;

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_RUN_PREDICT_MODEL_H_
