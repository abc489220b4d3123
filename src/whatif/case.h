// A workload as it is, or as it would be: its step with all that is known of
// it.
#ifndef STEPCAST_WHATIF_CASE_H_
#define STEPCAST_WHATIF_CASE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/run/predict.h"
#include "engine/run/predict_model.h"
#include "ir/graph.h"
#include "scenario/resolve.h"
#include "whatif/step_editor.h"
#include "whatif/step_times.h"

namespace stepcast::whatif {

struct Case {
  engine::StepResult result;
  StepTimes times;  // That it was simulated with.
  engine::Machine machine;
  /// Of models: what was asked, and what else was found.
  std::optional<scenario::Job> job;
  std::shared_ptr<const engine::ModelPrediction> model;
  engine::PredictOptions options;
};

/// A model, predicted; the job is bound.
Result<Case> CaseOfModel(scenario::Job job, scenario::Resolver& resolver);

/// A recorded step as it was measured: replayed from its own durations.
Result<Case> CaseOfTrace(std::shared_ptr<const ir::Graph> graph,
                         engine::Machine machine,
                         const engine::PredictOptions& options);

/// A step that was predicted from its graph.
Case CaseOfResult(engine::StepResult result, engine::Machine machine,
                  const engine::PredictOptions& options);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_CASE_H_
