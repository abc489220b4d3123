// A workload as it is, or as it would be: its step with all that is known of
// it.
#ifndef STEPCAST_WHATIF_CASE_H_
#define STEPCAST_WHATIF_CASE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/predict.h"
#include "engine/predictor.h"
#include "ir/graph.h"
#include "whatif/step_editor.h"
#include "whatif/step_times.h"

namespace stepcast::whatif {

struct Case {
  engine::StepResult result;
  StepTimes times;  // That it was simulated with.
  Place place;
  /// Of models: what was asked, and what else was found.
  std::optional<engine::Request> request;
  std::shared_ptr<const engine::ModelPrediction> model;
  engine::PredictOptions options;
};

/// A model, predicted.
Result<Case> CaseOfModel(const engine::Request& request,
                         const engine::PredictOptions& options,
                         engine::Predictor& predictor);

/// A recorded step as it was measured: replayed from its own durations.
Result<Case> CaseOfTrace(std::shared_ptr<const ir::Graph> graph, Place place,
                         const engine::PredictOptions& options);

/// A step that was predicted from its graph.
Case CaseOfResult(engine::StepResult result, Place place,
                  const engine::PredictOptions& options);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_CASE_H_
