// A side of `stepcast compare`: a workload and settings of its own.
#ifndef STEPCAST_API_COMPARE_SIDE_H_
#define STEPCAST_API_COMPARE_SIDE_H_

#include <string>

#include "base/result.h"
#include "scenario/scenario.h"

namespace stepcast::api {

/// "dlrm_mlperf@gpu=h100-sxm-80gb,batch=4096": what stands after '@' goes
/// before the options of the command. A name that exists is a file.
Status ReadSide(const std::string& text, scenario::Scenario& scenario);

}  // namespace stepcast::api

#endif  // STEPCAST_API_COMPARE_SIDE_H_
