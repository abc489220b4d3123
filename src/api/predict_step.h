// A step of a model or of a recording, predicted.
#ifndef STEPCAST_API_PREDICT_STEP_H_
#define STEPCAST_API_PREDICT_STEP_H_

#include <memory>

#include "api/ask.h"
#include "base/result.h"
#include "engine/explain/step_result.h"
#include "scenario/resolve.h"
#include "scenario/scenario.h"
#include "view/reports/prediction.h"

namespace stepcast::api {

struct Predicted {
  std::shared_ptr<scenario::Resolver> resolver;  // The result points into it.
  engine::StepResult result;
  view::PredictionReport report;
};

/// Of a model, built in or from a file.
Result<Predicted> PredictModel(const scenario::Scenario& scenario,
                               const Options& how);

/// Of a step that was recorded: its ops and kernels with other times.
Result<Predicted> PredictTrace(const scenario::Scenario& scenario,
                               const Options& how);

}  // namespace stepcast::api

#endif  // STEPCAST_API_PREDICT_STEP_H_
