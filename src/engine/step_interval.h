// How far a predicted step time may be off, by drawing what is uncertain.
#ifndef STEPCAST_ENGINE_STEP_INTERVAL_H_
#define STEPCAST_ENGINE_STEP_INTERVAL_H_

#include "engine/predict.h"
#include "engine/step_result.h"

namespace stepcast::engine {

/// Simulates the step again with drawn durations: a model's error is partly
/// common to all its works and partly each shape's own; the host's is common
/// to all its pieces. The same seed gives the same interval, around the
/// prediction.
StepInterval SampleInterval(const StepResult& result,
                            const PredictOptions& options);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_STEP_INTERVAL_H_
