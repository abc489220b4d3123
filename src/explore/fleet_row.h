// The row of asynchronous training on servers without GPUs.
#ifndef STEPCAST_EXPLORE_FLEET_ROW_H_
#define STEPCAST_EXPLORE_FLEET_ROW_H_

#include "explore/row.h"
#include "fleet/predict_fleet.h"

namespace stepcast::explore {

Row FleetRow(const fleet::FleetPrediction& prediction, bool has_interval);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_FLEET_ROW_H_
