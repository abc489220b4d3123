// Commands of several kinds: stepcast fit kernels, stepcast fit overheads, ...
#ifndef STEPCAST_CLI_KINDS_H_
#define STEPCAST_CLI_KINDS_H_

#include <span>
#include <string_view>

#include "base/result.h"
#include "cli/commands.h"

namespace stepcast::cli {

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

#endif  // STEPCAST_CLI_KINDS_H_
