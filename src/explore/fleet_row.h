// The row of asynchronous training on servers without GPUs.
#ifndef STEPCAST_EXPLORE_FLEET_ROW_H_
#define STEPCAST_EXPLORE_FLEET_ROW_H_

#include <cstdint>

#include "explore/row.h"
#include "explore/scenario.h"
#include "fleet/predict_fleet.h"

namespace stepcast::explore {

/// What is asked of a fleet; `samples` draws for the interval.
fleet::FleetRequest FleetRequestOf(const Scenario& scenario, uint32_t samples,
                                   uint64_t seed);

Row FleetRow(const fleet::FleetPrediction& prediction, bool has_interval);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_FLEET_ROW_H_
