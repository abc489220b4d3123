#include "cli/kinds.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/text_table.h"
#include "cli/output.h"

namespace stepcast::cli {
namespace {

std::string HelpText(std::string_view command, std::string_view help,
                     std::span<const Kind> kinds) {
  TextTable table({Align::kLeft, Align::kLeft}, "  ");
  for (const Kind& kind : kinds) {
    table.AddRow(
        {fmt::format("{} {}", command, kind.name), std::string(kind.help)});
  }
  return fmt::format(
      "{}\n\nusage: stepcast {} KIND ...\n\n{}\n"
      "  stepcast {} KIND --help   options and examples\n",
      help, command, table.ToString(), command);
}

}  // namespace

Status RunKind(std::string_view command, std::string_view help,
               std::span<const Kind> kinds, const Words& words) {
  if (words.empty() || words.front() == "--help" || words.front() == "-h") {
    return Print(HelpText(command, help, kinds));
  }
  const auto found = std::ranges::find(kinds, words.front(), &Kind::name);
  if (found != kinds.end()) {
    return found->run(Words(words.begin() + 1, words.end()));
  }
  std::vector<std::string_view> names;
  for (const Kind& kind : kinds) {
    names.push_back(kind.name);
  }
  return Fail(
      ErrorCode::kInvalidInput,
      Unknown(fmt::format("kind of {}", command), words.front(), names));
}

}  // namespace stepcast::cli
