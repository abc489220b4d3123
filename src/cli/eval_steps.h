// The command that sets published step times beside their prediction.
#ifndef STEPCAST_CLI_EVAL_STEPS_H_
#define STEPCAST_CLI_EVAL_STEPS_H_

#include "base/result.h"
#include "cli/commands.h"

namespace stepcast::cli {

/// stepcast eval steps
Status EvalSteps(const Words& words);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_EVAL_STEPS_H_
