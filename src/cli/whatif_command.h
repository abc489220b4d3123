// What `stepcast whatif` was asked, and the workload it was asked of.
#ifndef STEPCAST_CLI_WHATIF_COMMAND_H_
#define STEPCAST_CLI_WHATIF_COMMAND_H_

#include "base/result.h"
#include "cli/predict_command.h"
#include "engine/predictor.h"
#include "whatif/case.h"

namespace stepcast::cli {

/// The workload as it is: a model, predicted; a recorded step, replayed from
/// its own durations; a graph without times, predicted.
Result<whatif::Case> LoadCase(const PredictCommand& command,
                              engine::Predictor& predictor);

/// What a user calls it.
std::string NameOf(const PredictCommand& command);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_WHATIF_COMMAND_H_
