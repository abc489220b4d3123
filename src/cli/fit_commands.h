// The kinds of `stepcast fit`.
#ifndef STEPCAST_CLI_FIT_COMMANDS_H_
#define STEPCAST_CLI_FIT_COMMANDS_H_

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "learn/fit/fit_kernels.h"

namespace stepcast::cli {

Status FitCollectives(const Words& words);
Status FitKernels(const Words& words);
/// stepcast fit profile
Status FitProfile(const Words& words);
Status FitOverheads(const Words& words);

/// Writes the files of a profile below `directory`, which is made.
Status WriteProfile(const std::vector<learn::ProfileFile>& files,
                    const std::filesystem::path& directory);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_FIT_COMMANDS_H_
