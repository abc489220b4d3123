// A report of stepcast, or a scenario file, as a workload: it is asked again.
#ifndef STEPCAST_CLI_ASK_AGAIN_H_
#define STEPCAST_CLI_ASK_AGAIN_H_

#include <string>

#include "base/result.h"
#include "cli/predict_command.h"

namespace stepcast::cli {

/// Whether a file begins like what `--json` writes.
bool IsReport(const std::string& path);

/// If the command names one report or scenario file, its scenario takes the
/// place of the name, with the command's own options on top; then the settings
/// of --set.
Status AskAgain(PredictCommand& command);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_ASK_AGAIN_H_
