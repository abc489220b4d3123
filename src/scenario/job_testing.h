// Jobs without a scenario, for tests.
#ifndef STEPCAST_SCENARIO_JOB_TESTING_H_
#define STEPCAST_SCENARIO_JOB_TESTING_H_

#include "engine/run/predict_model.h"
#include "scenario/resolve.h"

namespace stepcast::scenario {

/// Finds and loads what the names of a job mean, and predicts it.
inline Result<engine::ModelPrediction> PredictJob(Job& job,
                                                  Resolver& resolver) {
  RETURN_IF_ERROR(resolver.Bind(job));
  RETURN_IF_ERROR(resolver.Load(job.request.machine));
  return engine::PredictModel(job.request, job.options);
}

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_JOB_TESTING_H_
