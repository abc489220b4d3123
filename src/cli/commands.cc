#include "cli/commands.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "base/text/nearest.h"
#include "base/text/text_table.h"
#include "cli/ask_command.h"
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

// stepcast eval: predicted against measured.

namespace {

template <const char* kVerb>
Status Eval(const Words& words) {
  const Result<Outcome> outcome = AskCommand(kVerb, words);
  return outcome ? Status() : Status(tl::unexpected(outcome.error()));
}

constexpr char kKernels[] = "eval kernels";
constexpr char kOverheads[] = "eval overheads";
constexpr char kSteps[] = "eval steps";

}  // namespace

Status RunEval(const Words& words) {
  constexpr std::array kKinds = {
      Kind{"kernels", "kernel times and collectives, by op, GPU and type",
           Eval<kKernels>},
      Kind{"overheads", "steps of a run from the overheads of its other steps",
           Eval<kOverheads>},
      Kind{"steps", "published step times of models on GPUs", Eval<kSteps>},
  };
  return RunKind("eval", "Compares what is predicted with what was measured.",
                 kKinds, words);
}

namespace {

// A command that checks nothing.
template <Status (*kRun)(const Words&)>
Result<Outcome> Plain(const Words& words) {
  RETURN_IF_ERROR(kRun(words));
  return Outcome::kDone;
}

constexpr char kCompare[] = "compare";
constexpr char kDoctor[] = "doctor";
constexpr char kExplore[] = "explore";
constexpr char kPlan[] = "plan";
constexpr char kPredict[] = "predict";
constexpr char kReplay[] = "replay";
constexpr char kWhatif[] = "whatif";

// A command that asks a question.
template <const char* kVerb>
Result<Outcome> Ask(const Words& words) {
  return AskCommand(kVerb, words);
}

constexpr std::array kCommands = {
    Command{.name = "predict",
            .arguments = "WORKLOAD",
            .help = "the time of a step of a model or a trace on a GPU, "
                    "without running it",
            .run = Ask<kPredict>},
    Command{.name = "doctor",
            .arguments = "FILE...",
            .help = "what traces hold, what is missing or odd, how to record "
                    "them better",
            .run = Ask<kDoctor>},
    Command{.name = "convert",
            .arguments = "FILE... -o FILE",
            .help = "one step as graph text, Chakra .et or Perfetto/Chrome "
                    "JSON",
            .run = Plain<RunConvert>},
    Command{.name = "replay",
            .arguments = "FILE...",
            .help = "simulates measured steps from their own durations, and "
                    "says where time goes",
            .run = Ask<kReplay>},
    Command{.name = "whatif",
            .arguments = "WORKLOAD --change NAME=VALUE...",
            .help = "a step before and after changes, and what they gain",
            .run = Ask<kWhatif>},
    Command{.name = "compare",
            .arguments = "A B",
            .help = "two steps op by op, with --fail-on for continuous "
                    "integration",
            .run = Ask<kCompare>},
    Command{.name = "plan",
            .arguments = "MODEL",
            .help = "finds the sharding of embedding tables with the shortest "
                    "predicted step",
            .run = Ask<kPlan>},
    Command{.name = "explore",
            .arguments = "STUDY",
            .help = "many predictions, models by machines by settings, as one "
                    "table with charts",
            .run = Ask<kExplore>},
    Command{
        .name = "fit",
        .arguments = "kernels|profile|overheads|collectives --data ... -o ...",
        .help = "turns measurements into a profile",
        .run = Plain<RunFit>},
    Command{
        .name = "eval",
        .arguments = "kernels|overheads|steps --data ...",
        .help = "compares predictions with measurements, as tables of errors",
        .run = Plain<RunEval>},
    Command{
        .name = "list",
        .arguments = "gpus|platforms|workloads|models|studies|formats|changes",
        .help = "what is built in, one line each",
        .run = Plain<RunList>},
    Command{.name = "sample",
            .arguments = "DIR",
            .help = "a trace and a model file to try the other commands on",
            .run = Plain<RunSample>},
    Command{.name = "completion",
            .arguments = "bash|zsh|fish",
            .help = "a script for a shell that completes commands, options "
                    "and values",
            .run = Plain<RunCompletion>},
};

std::string HelpText() {
  TextTable table({Align::kLeft, Align::kLeft}, "  ");
  for (const Command& command : kCommands) {
    table.AddRow({fmt::format("{} {}", command.name, command.arguments),
                  std::string(command.help)});
  }
  return fmt::format(
      "stepcast {}: how long a training step takes and why, without running "
      "it\n"
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
      "a graph text file, or a directory or archive with one such file per "
      "rank. Gzip is\n"
      "decompressed, and the format is found from the content. Exit status: 0 "
      "done,\n"
      "1 a check of --fail-on failed or the job does not fit in memory, 2 the "
      "command or\n"
      "its input is wrong.\n"
      "\n"
      "examples:\n"
      "  stepcast predict dlrm_mlperf --gpu a100-sxm-80gb --batch 2048\n"
      "  stepcast doctor rank0.json.gz\n"
      "  stepcast doctor traces/ --json\n"
      "  stepcast replay traces/ --step 12\n"
      "  stepcast whatif traces/ --change remove-sync\n"
      "  stepcast convert kineto.json.gz et.json -o step.graph\n",
      api::Version(), table.ToString());
}

Status PrintHelp(const Words& /*words*/) {
  return Print(HelpText());
}

Status PrintVersion(const Words& /*words*/) {
  return Print(fmt::format("stepcast {}\n", api::Version()));
}

std::vector<std::string_view> CommandNames() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kCommands));
  for (const Command& command : kCommands) {
    names.push_back(command.name);
  }
  return names;
}

}  // namespace

std::span<const Command> Commands() {
  return kCommands;
}

Result<Outcome> RunCommandLine(const Words& words) {
  if (words.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("no command given; expected {}; see "
                            "stepcast --help",
                            OneOf(CommandNames())));
  }
  const std::string& name = words.front();
  if (name == "--help" || name == "-h" || name == "help") {
    return Plain<PrintHelp>(words);
  }
  if (name == "--version" || name == "-V") {
    return Plain<PrintVersion>(words);
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
