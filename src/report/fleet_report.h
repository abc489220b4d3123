// A fleet of CPU servers as people and scripts want to know it.
#ifndef STEPCAST_REPORT_FLEET_REPORT_H_
#define STEPCAST_REPORT_FLEET_REPORT_H_

#include <string>
#include <string_view>

#include "fleet/predict_fleet.h"
#include "scenario/scenario.h"

namespace stepcast::report {

std::string FleetText(const fleet::FleetPrediction& prediction,
                      std::string_view workload);
/// One object; keys as the command line promises them.
std::string FleetJson(const fleet::FleetPrediction& prediction,
                      const scenario::Scenario& asked,
                      std::string_view version);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_FLEET_REPORT_H_
