// The kinds of `stepcast eval`.
#ifndef STEPCAST_CLI_EVAL_COMMANDS_H_
#define STEPCAST_CLI_EVAL_COMMANDS_H_

#include "base/result.h"
#include "cli/commands.h"

namespace stepcast::cli {

Status EvalKernels(const Words& words);
Status EvalOverheads(const Words& words);
Status EvalSteps(const Words& words);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_EVAL_COMMANDS_H_
