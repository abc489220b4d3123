// The list of commands.
#ifndef STEPCAST_CLI_COMMANDS_H_
#define STEPCAST_CLI_COMMANDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepcast::cli {

/// The words after the command's name.
using Words = std::vector<std::string>;

/// How a command ended that did its job.
enum class Outcome : uint8_t {
  kDone,
  kCheckFailed,  // One that --fail-on asks for, or it does not fit in memory.
};

/// One verb of the program.
struct Command {
  std::string_view name;
  std::string_view arguments;  // "FILE..."
  std::string_view help;       // One line.
  /// Does the job and prints its answer. Errors are printed by the caller.
  Result<Outcome> (*run)(const Words& words) = nullptr;
};

/// In the order they are shown.
std::span<const Command> Commands();

/// Runs the program: `words` is the command line without the program's name.
Result<Outcome> RunCommandLine(const Words& words);

Status RunCompletion(const Words& words);
Status RunConvert(const Words& words);
Status RunEval(const Words& words);
Status RunFit(const Words& words);
Status RunList(const Words& words);
Status RunSample(const Words& words);

// Commands of several kinds: stepcast fit kernels, stepcast fit overheads, ...

/// One kind of a command.
struct Kind {
  std::string_view name;  // "overheads"
  std::string_view help;  // One line.
  Status (*run)(const Words& words) = nullptr;
};

/// Runs the kind that the first word names; prints the list if there is none
/// or help is asked for.
Status RunKind(std::string_view command, std::string_view help,
               std::span<const Kind> kinds, const Words& words);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_COMMANDS_H_
