// Parameter servers beside GPUs: what tables that are placed there ask of them.
#ifndef STEPCAST_EXPLORE_PARAMETER_SERVERS_H_
#define STEPCAST_EXPLORE_PARAMETER_SERVERS_H_

#include "base/result.h"
#include "engine/predict_model.h"
#include "explore/row.h"
#include "scenario/job.h"

namespace stepcast::explore {

/// Fills what the servers of a scenario with remote tables hold and do in a
/// step that was predicted as if they kept up, and makes it as long as they
/// need if they do not. Nothing where no servers are named.
Status FillParameterServers(const scenario::Job& job,
                            const engine::ModelPrediction& predicted, Row& row);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_PARAMETER_SERVERS_H_
