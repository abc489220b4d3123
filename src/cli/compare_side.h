// A side of `stepcast compare`: a workload and settings of its own.
#ifndef STEPCAST_CLI_COMPARE_SIDE_H_
#define STEPCAST_CLI_COMPARE_SIDE_H_

#include <string>

#include "base/result.h"
#include "cli/predict_command.h"

namespace stepcast::cli {

/// "dlrm_mlperf@gpu=h100-sxm-80gb,batch=4096": what stands behind '@' goes
/// before the options of the command. A name that exists is a file.
Status ReadSide(const std::string& text, PredictCommand& command);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_COMPARE_SIDE_H_
