// The report of a fleet of CPU servers.
#ifndef STEPCAST_VIEW_REPORTS_FLEET_DOC_H_
#define STEPCAST_VIEW_REPORTS_FLEET_DOC_H_

#include "fleet/predict_fleet.h"
#include "view/doc.h"

namespace stepcast::view {

/// Keys are as the command line promises them.
Doc FleetDoc(const fleet::FleetPrediction& prediction);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_FLEET_DOC_H_
