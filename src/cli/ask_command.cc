#include "cli/ask_command.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/workload.h"
#include "base/check.h"
#include "base/result.h"
#include "base/text/nearest.h"
#include "base/text/value_text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/option_parser.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "view/doc.h"
#include "view/write.h"

namespace stepcast::cli {
namespace {

// Checks that a user asks for: --fail-on 'error>1%'.

// Fails the run if the quantity compares so with the limit.
struct Check {
  enum class Compare : uint8_t { kAbove, kAtLeast, kBelow, kAtMost };
  std::string text{};   // As given.
  size_t quantity = 0;  // Into the command's list.
  Compare compare = Compare::kAbove;
  double limit = 0;
};

using Compare = Check::Compare;

struct Operator {
  std::string_view text;
  Compare compare = Compare::kAbove;
};
// Longer ones first.
constexpr std::array kOperators = {
    Operator{.text = ">=", .compare = Compare::kAtLeast},
    Operator{.text = "<=", .compare = Compare::kAtMost},
    Operator{.text = ">", .compare = Compare::kAbove},
    Operator{.text = "<", .compare = Compare::kBelow},
};

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> NamesOf(
    std::span<const api::Quantity> quantities) {
  std::vector<std::string_view> names;
  for (const api::Quantity& quantity : quantities) {
    names.push_back(quantity.name);
  }
  return names;
}

Result<Check> ParseCheck(const std::string& text,
                         std::span<const api::Quantity> quantities) {
  const size_t at = text.find_first_of("<>");
  if (at == std::string::npos) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("--fail-on is '{}'; expected a quantity, <, <=, > "
                            "or >=, and a number, as in '{}>1'",
                            text, quantities.front().name));
  }
  Check check{.text = text};
  const std::string_view name = Trimmed(std::string_view(text).substr(0, at));
  while (check.quantity < quantities.size() &&
         quantities[check.quantity].name != name) {
    ++check.quantity;
  }
  if (check.quantity == quantities.size()) {
    return Fail(ErrorCode::kInvalidInput,
                Unknown("quantity of --fail-on", name, NamesOf(quantities)));
  }
  std::string_view rest = std::string_view(text).substr(at);
  for (const Operator& known : kOperators) {
    if (rest.starts_with(known.text)) {
      check.compare = known.compare;
      rest = Trimmed(rest.substr(known.text.size()));
      break;
    }
  }
  const auto limit = ParseQuantity(rest, quantities[check.quantity].unit);
  if (!limit) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("--fail-on is '{}': {}", text, limit.error().message));
  }
  check.limit = *limit;
  return check;
}

bool Triggers(const Check& check, double value) {
  switch (check.compare) {
    case Compare::kAbove:
      return value > check.limit;
    case Compare::kAtLeast:
      return value >= check.limit;
    case Compare::kBelow:
      return value < check.limit;
    case Compare::kAtMost:
      break;
  }
  return value <= check.limit;
}

void AddFailOn(OptionParser& parser, std::span<const api::Quantity> quantities,
               std::vector<std::string>& texts) {
  std::string help =
      "end with status 1 if this holds, as in 'error>1%'; may be\nrepeated:";
  for (const api::Quantity& quantity : quantities) {
    help += fmt::format("\n{}: {}", quantity.name, quantity.help);
  }
  parser.AddRepeated("--fail-on", texts, help, "EXPR");
}

// "error>1%", "max_abs_pct >= 0.5", ...
Result<std::vector<Check>> ParseChecks(
    const std::vector<std::string>& texts,
    std::span<const api::Quantity> quantities) {
  std::vector<Check> checks;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(Check check, ParseCheck(text, quantities));
    checks.push_back(std::move(check));
  }
  return checks;
}

// What became of each check; `values` are those of the quantities, in their
// order, or none if there are no checks.
std::vector<view::CheckedCase> CasesOf(
    std::span<const Check> checks, std::span<const api::Quantity> quantities,
    std::span<const double> values) {
  CHECK(checks.empty() || values.size() == quantities.size())
      << values.size() << " of " << quantities.size();
  std::vector<view::CheckedCase> cases;
  for (const Check& check : checks) {
    const api::Quantity& quantity = quantities[check.quantity];
    const double value = values[check.quantity];
    cases.push_back({.name = check.text});
    if (Triggers(check, value)) {
      cases.back().failure = fmt::format(
          "--fail-on '{}': {} is {:.4g}{}{}", check.text, quantity.name, value,
          quantity.unit.empty() ? "" : " ", quantity.unit);
    }
  }
  return cases;
}

// Complains of every check that fails.
Outcome ReportFailures(std::span<const view::CheckedCase> cases) {
  Outcome outcome = Outcome::kDone;
  for (const view::CheckedCase& one : cases) {
    if (!one.failure.empty()) {
      Complain(one.failure);
      outcome = Outcome::kCheckFailed;
    }
  }
  return outcome;
}

using api::Argument;

// "of what is drawn; default 1".
std::string HelpOf(const scenario::Setting& setting) {
  const bool plain = setting.IsFlag() || setting.standard == "none" ||
                     setting.section == scenario::Section::kModel ||
                     setting.section == scenario::Section::kFigures;
  return plain ? std::string(setting.help)
               : fmt::format("{}; default: {}", setting.help, setting.standard);
}

void AddSetting(OptionParser& parser, const scenario::Setting& setting,
                scenario::Scenario& scenario) {
  const std::string option = fmt::format("--{}", setting.name);
  const std::string help = HelpOf(setting);
  std::visit(
      [&]<typename T>(T scenario::Scenario::*member) {
        if constexpr (std::is_same_v<T, bool>) {
          parser.AddFlag(option, scenario.*member, help);
        } else if constexpr (std::is_same_v<T, std::string>) {
          parser.Add(option, scenario.*member, help, setting.value);
        } else {
          parser.AddRepeated(option, scenario.*member, help, setting.value);
        }
      },
      setting.member);
}

// The command line of a verb.
struct CommandLine {
  scenario::Question question{};
  std::map<std::string_view, std::string> words{};  // Arguments of one.
  std::map<std::string_view, std::vector<std::string>> lists{};
  std::map<std::string_view, bool> flags{};
  std::map<std::string_view, std::string> files{};
  std::vector<std::string> sets{};
  std::vector<std::string> fail_on{};
  std::string junit{};
  std::string threads{};
  std::string directory{};
  std::string patience{};
  ReportOptions output{};
};

void AddArgument(OptionParser& parser, const Argument& argument,
                 CommandLine& line) {
  const std::string option = fmt::format("--{}", argument.name);
  switch (argument.kind) {
    case Argument::Kind::kWord:
      parser.Add(option, line.words[argument.name], argument.help,
                 argument.value);
      return;
    case Argument::Kind::kWords:
      parser.Add(option, line.lists[argument.name], argument.help,
                 argument.value);
      return;
    case Argument::Kind::kRepeated:
      parser.AddRepeated(option, line.lists[argument.name], argument.help,
                         argument.value);
      return;
    case Argument::Kind::kFlag:
      parser.AddFlag(option, line.flags[argument.name], argument.help);
      return;
  }
}

void AddOptions(OptionParser& parser, const api::Verb& verb,
                CommandLine& line) {
  AddSettings(parser, line.question.scenario, verb.takes, verb.words,
              verb.words_help);
  parser.AddRepeated("--set", line.sets,
                     "any setting by its name, as in batch=4096; may be "
                     "repeated",
                     "NAME=VALUE");
  for (const Argument& argument : verb.arguments) {
    AddArgument(parser, argument, line);
  }
  parser.Add("--threads", line.threads,
             "threads to use; 0, the default: one per core", "N");
  if (verb.is_study) {
    parser.Add("-o,--out", line.directory,
               "keep finished rows there, so that a killed study can resume, "
               "and write\nrows.csv and rows.json; needed under mpirun",
               "DIR");
    parser.Add("--patience", line.patience,
               "seconds without a sign of life after which another process "
               "counts as\ngone; default 60",
               "S");
  }
  for (const api::File& file : verb.files) {
    parser.Add(fmt::format("--{}", file.name), line.files[file.name], file.help,
               "FILE");
  }
  if (!verb.quantities.empty()) {
    AddFailOn(parser, verb.quantities, line.fail_on);
    parser.Add("--junit", line.junit,
               "write the results of the checks as JUnit XML", "FILE");
  }
  AddReportOptions(parser, line.output, verb.page, verb.rows);
}

void TakeArguments(CommandLine& line) {
  auto& arguments = line.question.arguments;
  for (auto& [name, word] : line.words) {
    if (!word.empty()) {
      arguments[std::string(name)] = {std::move(word)};
    }
  }
  for (auto& [name, list] : line.lists) {
    if (!list.empty()) {
      arguments[std::string(name)] = std::move(list);
    }
  }
  for (const auto& [name, is_set] : line.flags) {
    if (is_set) {
      arguments[std::string(name)] = {"true"};
    }
  }
}

// Files that are written may not be those that are read.
Status CheckFiles(const CommandLine& line) {
  std::vector<std::string> inputs = line.question.scenario.workload;
  for (const auto& [name, values] : line.question.arguments) {
    inputs.insert(inputs.end(), values.begin(), values.end());
  }
  RETURN_IF_ERROR(CheckReportOptions(line.output, inputs));
  RETURN_IF_ERROR(CheckExtraFile("--junit", line.junit, inputs));
  for (const auto& [name, path] : line.files) {
    RETURN_IF_ERROR(CheckExtraFile(fmt::format("--{}", name), path, inputs));
  }
  return {};
}

Result<std::vector<ExtraFile>> FilesOf(const api::Verb& verb,
                                       const CommandLine& line,
                                       const api::Answer& answer) {
  std::vector<ExtraFile> files = {PageOf(answer.doc, line.output)};
  for (const api::File& file : verb.files) {
    const std::string& path = line.files.at(file.name);
    if (path.empty()) {
      continue;
    }
    const auto found = answer.files.find(file.name);
    if (found == answer.files.end()) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("--{}: {}", file.name, file.absent));
    }
    files.push_back({.path = path, .text = found->second()});
  }
  if (!line.junit.empty()) {
    files.push_back({.path = line.junit, .text = view::WriteJunit(answer.doc)});
  }
  return files;
}

// All rows of a study, where it keeps them.
Status WriteRows(const CommandLine& line, const api::Answer& answer) {
  if (line.directory.empty() || !answer.whole) {
    return {};
  }
  const std::filesystem::path directory = line.directory;
  RETURN_IF_ERROR(WriteOutputChunks(
      directory / "rows.csv",
      [&](const view::Sink& sink) { view::WriteCsv(*answer.whole, sink); }));
  return WriteOutputChunks(
      directory / "rows.json",
      [&](const view::Sink& sink) { view::WriteJson(*answer.whole, sink); });
}

Result<api::Answer> AskLine(const api::Verb& verb, const CommandLine& line) {
  ASSIGN_OR_RETURN(const auto threads,
                   api::ParseNumber("--threads", line.threads, 0));
  Progress progress(verb.name);
  api::Options options{
      .threads = static_cast<size_t>(threads.value_or(0)),
      .on_progress = [&](std::string_view what) { progress.Set(what); },
      .page = !line.output.html.empty(),
      .details = line.output.json,
      .directory = line.directory};
  if (verb.is_study) {
    ASSIGN_OR_RETURN(const auto patience,
                     api::ParseNumber("--patience", line.patience, 1));
    if (patience) {
      options.patience = std::chrono::seconds(*patience);
    }
    ASSIGN_OR_RETURN(options.process, EnvProcess());
  }
  if (!verb.is_search) {
    return api::Ask(line.question, options);
  }
  const InterruptGuard guard;
  options.cancelled = &InterruptGuard::Noted;
  return api::Ask(line.question, options);
}

}  // namespace

void AddSettings(OptionParser& parser, scenario::Scenario& scenario,
                 const std::function<bool(const scenario::Setting&)>& wanted,
                 std::string_view words, std::string_view help) {
  using scenario::Section;
  for (const Section section :
       {Section::kRun, Section::kMachine, Section::kFleet, Section::kModel,
        Section::kFigures, Section::kTimes, Section::kWorkload}) {
    parser.BeginGroup(scenario::Title(section));
    for (const scenario::Setting& setting : scenario::Settings()) {
      if (setting.section != section || !wanted(setting)) {
        continue;
      }
      if (setting.member == scenario::Member(&scenario::Scenario::workload)) {
        parser.Add(words.empty() ? "WORKLOAD" : words, scenario.workload,
                   help.empty() ? setting.help : help, "");
      } else {
        AddSetting(parser, setting, scenario);
      }
    }
  }
  parser.BeginGroup("");
}

Result<Outcome> AskCommand(std::string_view name, const Words& words) {
  const api::Verb* const verb = api::FindVerb(name);
  CHECK(verb != nullptr) << name;
  OptionParser parser(verb->name, verb->about, verb->examples);
  CommandLine line;
  line.question.verb = verb->name;
  AddOptions(parser, *verb, line);
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return Outcome::kDone;
  }
  TakeArguments(line);
  ASSIGN_OR_RETURN(const std::vector<Check> checks,
                   ParseChecks(line.fail_on, verb->quantities));
  RETURN_IF_ERROR(CheckFiles(line));
  RETURN_IF_ERROR(api::Rerun(line.question));
  for (const std::string& text : line.sets) {
    RETURN_IF_ERROR(scenario::SetSetting(text, text, line.question.scenario));
  }
  ASSIGN_OR_RETURN(api::Answer answer, AskLine(*verb, line));
  if (!answer.doc.asked) {
    return Outcome::kDone;  // Another process reports.
  }
  RETURN_IF_ERROR(WriteRows(line, answer));
  if (!checks.empty() && answer.values.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "--fail-on: suggestions have nothing to check; expected "
                "--change");
  }
  answer.doc.cases = CasesOf(checks, verb->quantities, answer.values);
  if (!answer.fits) {
    answer.doc.cases.push_back(
        {.name = "fits in memory",
         .failure = "what was asked for does not fit in memory"});
  }
  ASSIGN_OR_RETURN(const std::vector<ExtraFile> files,
                   FilesOf(*verb, line, answer));
  RETURN_IF_ERROR(WriteExtraFiles(files));
  RETURN_IF_ERROR(PrintReport(answer.doc, line.output));
  return ReportFailures(answer.doc.cases);
}

}  // namespace stepcast::cli
