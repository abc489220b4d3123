// Commands that ask a question: options in, a report out.
#ifndef STEPCAST_CLI_ASK_COMMAND_H_
#define STEPCAST_CLI_ASK_COMMAND_H_

#include <functional>
#include <string_view>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/option_parser.h"
#include "scenario/scenario.h"
#include "scenario/settings.h"

namespace stepcast::cli {

/// Runs the verb of this name (api::Verbs) with a command line.
Result<Outcome> AskCommand(std::string_view name, const Words& words);

/// Declares options for settings that `wanted` says, under headings. `words` is
/// what stands without an option, the workload, and `help` what it is; empty:
/// as in the table of settings.
void AddSettings(OptionParser& parser, scenario::Scenario& scenario,
                 const std::function<bool(const scenario::Setting&)>& wanted,
                 std::string_view words, std::string_view help);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_ASK_COMMAND_H_
