// stepcast eval steps: published step times against their prediction.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/file.h"
#include "base/nearest.h"
#include "cli/data_options.h"
#include "cli/eval_commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "measurements/step_rows.h"
#include "report/accuracy_doc.h"
#include "report/step_accuracy.h"
#include "report/step_words.h"

namespace stepcast::cli {
namespace {

struct StepsCommand {
  DataOptions data;
  std::vector<std::string> profiles;
  std::vector<std::string> group;
  std::string words;
  std::string samples;
  std::string seed;
  ReportOptions output;
};

void AddOptions(OptionParser& parser, StepsCommand& command) {
  AddDataOptions(parser, command.data,
                 "CSV files, or directories with them, with the columns of "
                 "docs/cli.md");
  parser.Add("--group", command.group,
             "columns whose words make a group; default implementation "
             "mode gpu",
             "COLUMN");
  parser.Add("--words", command.words,
             "what the words of the files mean, instead of the built-in "
             "data/published/words.toml",
             "FILE");
  parser.AddRepeated("--profile", command.profiles,
                     "directory that `stepcast fit` wrote; may be repeated",
                     "DIR");
  parser.Add("--samples", command.samples,
             "draws for the intervals; default 100");
  parser.Add("--seed", command.seed, "of what is drawn; default 1");
  AddReportOptions(parser, command.output, "the report",
                   "a row for each predicted one");
}

// A group is of columns that the files have.
Status CheckGroup(const std::vector<std::string>& group,
                  const std::vector<measurements::StepRow>& rows) {
  if (rows.empty()) {
    return {};
  }
  for (const std::string& column : group) {
    if (!rows.front().words.contains(column)) {
      std::vector<std::string_view> known;
      for (const auto& [name, word] : rows.front().words) {
        known.push_back(name);
      }
      return Fail(ErrorCode::kInvalidInput, Unknown("column", column, known));
    }
  }
  return {};
}

Result<report::StepWords> LoadWords(const std::string& file) {
  if (file.empty()) {
    return report::StepWords::Load();
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  return report::StepWords::Parse(text, file);
}

Result<report::StepAccuracyOptions> ReadOptions(const StepsCommand& command) {
  report::StepAccuracyOptions options;
  if (!command.group.empty()) {
    options.columns = command.group;
  }
  options.profiles = {command.profiles.begin(), command.profiles.end()};
  ASSIGN_OR_RETURN(const auto samples,
                   ParseNumber("--samples", command.samples, 1));
  if (samples) {
    options.samples = static_cast<uint32_t>(
        std::min<int64_t>(*samples, std::numeric_limits<uint32_t>::max()));
  }
  ASSIGN_OR_RETURN(const auto seed, ParseNumber("--seed", command.seed, 0));
  options.seed = static_cast<uint64_t>(seed.value_or(1));
  return options;
}

}  // namespace

Status EvalSteps(const Words& words) {
  OptionParser parser(
      "eval steps",
      "Predicts published steps from the words of their rows and compares. A "
      "row that cannot be\npredicted is skipped with its reason.",
      "  stepcast eval steps --data dlrm_end_to_end.csv\n"
      "  stepcast eval steps --data results/ --group model precision --json");
  StepsCommand command;
  AddOptions(parser, command);
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  ASSIGN_OR_RETURN(const Data data, ReadDataOptions(command.data, kCsvFiles));
  RETURN_IF_ERROR(CheckReportOptions(command.output, command.data.data));
  ASSIGN_OR_RETURN(const auto rows, measurements::ReadStepRows(data.paths));
  RETURN_IF_ERROR(CheckGroup(command.group, rows));
  ASSIGN_OR_RETURN(const auto meanings, LoadWords(command.words));
  ASSIGN_OR_RETURN(auto options, ReadOptions(command));
  options.threads = data.threads;
  view::Doc doc = [&] {
    const Progress progress("predicting published steps");
    return report::StepAccuracyDoc(
        report::EvaluateSteps(rows, meanings, options));
  }();
  return WriteReport(std::move(doc), command.output);
}

}  // namespace stepcast::cli
