// How far servers with GPUs are used: their memory, their network, their power.
#ifndef STEPCAST_EXPLORE_MACHINE_USE_H_
#define STEPCAST_EXPLORE_MACHINE_USE_H_

#include "engine/predict_model.h"
#include "explore/row.h"
#include "scenario/job.h"

namespace stepcast::explore {

/// Fills what is known of the trainers of a step that was predicted.
void FillMachineUse(const scenario::Job& job,
                    const engine::ModelPrediction& predicted, Row& row);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_MACHINE_USE_H_
