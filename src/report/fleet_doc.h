// The report of a fleet of CPU servers.
#ifndef STEPCAST_REPORT_FLEET_DOC_H_
#define STEPCAST_REPORT_FLEET_DOC_H_

#include "fleet/predict_fleet.h"
#include "view/doc.h"

namespace stepcast::report {

/// Keys are as the command line promises them.
view::Doc FleetDoc(const fleet::FleetPrediction& prediction);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_FLEET_DOC_H_
