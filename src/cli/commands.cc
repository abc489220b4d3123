#include "cli/commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/text_table.h"
#include "cli/output.h"

namespace stepcast::cli {
namespace {

constexpr std::array kCommands = {
    Command{.name = "doctor",
            .arguments = "FILE...",
            .help = "what traces hold, what is missing or odd, how to record "
                    "them better",
            .run = RunDoctor},
    Command{.name = "convert",
            .arguments = "FILE... -o FILE",
            .help = "one step as graph text, Chakra .et or Perfetto/Chrome "
                    "JSON",
            .run = RunConvert},
    Command{.name = "fit",
            .arguments = "kernels --data CSV... -o DIR",
            .help = "turns measurements into a profile",
            .run = RunFit},
    Command{.name = "eval",
            .arguments = "kernels --data CSV...",
            .help = "predicted against measured, error tables",
            .run = RunEval},
    Command{.name = "list",
            .arguments = "formats|gpus|models",
            .help = "what is built in, one line each",
            .run = RunList},
};

std::string HelpText() {
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kLeft}, "  ");
  for (const Command& command : kCommands) {
    table.AddRow({fmt::format("{} {}", command.name, command.arguments),
                  std::string(command.help)});
  }
  return fmt::format(
      "stepcast {}: where the time of a training step goes, from its traces\n"
      "\n"
      "usage: stepcast COMMAND ...\n"
      "\n"
      "{}"
      "\n"
      "  stepcast COMMAND --help   options and examples of a command\n"
      "  stepcast --version\n"
      "\n"
      "A FILE is a profiler trace (Kineto JSON), an execution trace, a Chakra "
      ".et file,\n"
      "a graph text file, a directory or an archive with one such file a "
      "rank; gzip is\n"
      "undone, and the format is found from the content. Exit status: 0 done, "
      "2 the\n"
      "command or its input is wrong.\n"
      "\n"
      "examples:\n"
      "  stepcast doctor rank0.json.gz\n"
      "  stepcast doctor traces/ --json\n"
      "  stepcast convert kineto.json.gz et.json -o step.graph\n",
      Version(), table.ToString());
}

std::vector<std::string_view> CommandNames() {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
  }
  return names;
}

}  // namespace

std::span<const Command> Commands() {
  return kCommands;
}

Status RunCommandLine(const Words& words) {
  if (words.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("no command given; expected {}; see "
                            "stepcast --help",
                            OneOf(CommandNames())));
  }
  const std::string& name = words.front();
  if (name == "--help" || name == "-h" || name == "help") {
    return Print(HelpText());
  }
  if (name == "--version" || name == "-V") {
    return Print(fmt::format("stepcast {}\n", Version()));
  }
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  if (found == kCommands.end()) {
    const bool is_option = name.starts_with("-");
    return Fail(ErrorCode::kInvalidInput,
                is_option ? fmt::format("unknown option '{}' before a command; "
                                        "expected {}, --help or --version",
                                        name, OneOf(CommandNames()))
                          : Unknown("command", name, CommandNames()));
  }
  return found->run(Words(words.begin() + 1, words.end()));
}

}  // namespace stepcast::cli
