// stepcast completion: what a shell needs to complete commands, options and
// the values of settings.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/nearest.h"
#include "cli/commands.h"
#include "cli/option_parser.h"
#include "cli/output.h"
#include "scenario/settings.h"

namespace stepcast::cli {
namespace {

constexpr std::string_view kBash = R"sh(# Completion of stepcast for bash:
#   source <(stepcast completion bash)
_stepcast() {
  local word=$2 before=$3 found IFS=$'\n'
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    found=$(stepcast completion commands)
  elif [[ $word == -* ]]; then
    found=$(stepcast completion options "${COMP_WORDS[1]}" 2> /dev/null)
  else
    local setting=workload
    [[ $before == --* ]] && setting=${before#--}
    found=$(stepcast completion values "$setting" 2> /dev/null)
    COMPREPLY=($(compgen -f -- "$word"))
  fi
  COMPREPLY+=($(compgen -W "$found" -- "$word"))
}
complete -o filenames -F _stepcast stepcast ./stepcast
)sh";

constexpr std::string_view kZsh = R"sh(#compdef stepcast
# Completion of stepcast for zsh:
#   source <(stepcast completion zsh)
_stepcast() {
  local -a found
  local setting=workload before=${words[CURRENT - 1]}
  if ((CURRENT == 2)); then
    found=(${(f)"$(stepcast completion commands)"})
    compadd -a found
  elif [[ ${words[CURRENT]} == -* ]]; then
    found=(${(f)"$(stepcast completion options ${words[2]} 2> /dev/null)"})
    compadd -a found
  else
    [[ $before == --* ]] && setting=${before#--}
    found=(${(f)"$(stepcast completion values $setting 2> /dev/null)"})
    compadd -a found
    _files
  fi
}
compdef _stepcast stepcast
)sh";

constexpr std::string_view kFish = R"sh(# Completion of stepcast for fish:
#   stepcast completion fish | source
function __stepcast_words
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    if test (count $words) -eq 1
        stepcast completion commands
    else if string match -q -- '-*' $word
        stepcast completion options $words[2] 2>/dev/null
    else
        set -l setting workload
        if string match -q -- '--*' $words[-1]
            set setting (string sub -s 3 -- $words[-1])
        end
        stepcast completion values $setting 2>/dev/null
    end
end
complete -c stepcast -a '(__stepcast_words)'
)sh";

Status PrintLines(const std::vector<std::string>& lines) {
  return Print(
      fmt::format("{}{}", Join(lines, "\n"), lines.empty() ? "" : "\n"));
}

Status PrintCommands() {
  std::vector<std::string> names;
  for (const Command& command : Commands()) {
    names.emplace_back(command.name);
  }
  return PrintLines(names);
}

Status PrintOptions(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Command& command : Commands()) {
    if (command.name == name) {
      const auto done = command.run({std::string(kListOptions)});
      return done ? Status() : Status(tl::unexpected(done.error()));
    }
    names.push_back(command.name);
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("command", name, names));
}

Status PrintValues(const std::string& name) {
  const scenario::Setting* const setting = scenario::FindSetting(name);
  if (setting == nullptr) {
    return Fail(ErrorCode::kInvalidInput, scenario::UnknownSetting(name));
  }
  return PrintLines(setting->words == nullptr ? std::vector<std::string>()
                                              : setting->words());
}

}  // namespace

Status RunCompletion(const Words& words) {
  OptionParser parser(
      "completion",
      "Prints what a shell needs to complete stepcast's commands, options and "
      "values.",
      "  source <(stepcast completion bash)\n"
      "  source <(stepcast completion zsh)\n"
      "  stepcast completion fish | source\n"
      "  stepcast completion values gpu");
  std::vector<std::string> what;
  parser.Add("WHAT", what,
             "bash, zsh or fish: a script; commands, options COMMAND or "
             "values SETTING: a word per line",
             "");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  struct Shell {
    std::string_view name;
    std::string_view script;
  };
  constexpr std::array kShells = {Shell{.name = "bash", .script = kBash},
                                  Shell{.name = "zsh", .script = kZsh},
                                  Shell{.name = "fish", .script = kFish}};
  const std::string first = what.empty() ? "" : what.front();
  const auto* const shell = std::ranges::find(kShells, first, &Shell::name);
  if (shell != kShells.end() && what.size() == 1) {
    return Print(shell->script);
  }
  if (first == "commands" && what.size() == 1) {
    return PrintCommands();
  }
  if (first == "options" && what.size() == 2) {
    return PrintOptions(what.back());
  }
  if (first == "values" && what.size() == 2) {
    return PrintValues(what.back());
  }
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("completion of '{}'; expected bash, zsh, fish, "
                          "commands, options COMMAND or values SETTING",
                          Join(what, " ")));
}

}  // namespace stepcast::cli
