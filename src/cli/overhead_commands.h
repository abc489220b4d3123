// The commands about overheads: fit them, and judge them by held-out steps.
#ifndef STEPCAST_CLI_OVERHEAD_COMMANDS_H_
#define STEPCAST_CLI_OVERHEAD_COMMANDS_H_

#include "base/result.h"
#include "cli/commands.h"

namespace stepcast::cli {

/// stepcast fit overheads
Status FitOverheads(const Words& words);
/// stepcast eval overheads
Status EvalOverheads(const Words& words);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_OVERHEAD_COMMANDS_H_
