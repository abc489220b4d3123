// The commands about collectives: fit them, and judge them beside kernels.
#ifndef STEPCAST_CLI_COLLECTIVE_COMMANDS_H_
#define STEPCAST_CLI_COLLECTIVE_COMMANDS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "hw/platform.h"

namespace stepcast::cli {

/// stepcast fit collectives
Status FitCollectives(const Words& words);

/// The platforms that the user gives as files or names.
Result<std::vector<hw::Platform>> FindPlatforms(
    const std::vector<std::string>& texts);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_COLLECTIVE_COMMANDS_H_
