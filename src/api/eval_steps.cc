// eval steps: published step times against their prediction.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/eval_data.h"
#include "api/workload.h"
#include "base/files/file.h"
#include "base/text/nearest.h"
#include "learn/judge/step_accuracy.h"
#include "learn/judge/step_words.h"
#include "learn/measured/step_rows.h"
#include "view/reports/accuracy_doc.h"

namespace stepcast::api {
namespace {

// A group is of columns that the files have.
Status CheckGroup(const std::vector<std::string>& group,
                  const std::vector<learn::StepRow>& rows) {
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

Result<learn::StepWords> LoadWords(const std::string& file) {
  if (file.empty()) {
    return learn::StepWords::Load();
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  return learn::StepWords::Parse(text, file);
}

Result<learn::StepAccuracyOptions> ReadStepOptions(
    const scenario::Question& question) {
  learn::StepAccuracyOptions options;
  if (question.Has("group")) {
    options.columns = question.All("group");
  }
  const scenario::Scenario& scenario = question.scenario;
  options.profiles = {scenario.profile.begin(), scenario.profile.end()};
  ASSIGN_OR_RETURN(const auto samples,
                   ParseNumber("--samples", scenario.samples, 1));
  if (samples) {
    options.samples = static_cast<uint32_t>(
        std::min<int64_t>(*samples, std::numeric_limits<uint32_t>::max()));
  }
  ASSIGN_OR_RETURN(const auto seed, ParseNumber("--seed", scenario.seed, 0));
  options.seed = static_cast<uint64_t>(seed.value_or(1));
  return options;
}

Result<Answer> AskEvalSteps(const scenario::Question& question,
                            const Options& how) {
  ASSIGN_OR_RETURN(const auto paths, DataOf(question, kCsvFiles));
  ASSIGN_OR_RETURN(const auto rows, learn::ReadStepRows(paths));
  RETURN_IF_ERROR(CheckGroup(question.All("group"), rows));
  ASSIGN_OR_RETURN(const auto meanings, LoadWords(question.One("words")));
  ASSIGN_OR_RETURN(auto options, ReadStepOptions(question));
  options.threads = how.threads;
  how.ReportProgress("predicting published steps");
  return Answer{.doc = view::StepAccuracyDoc(
                    learn::EvaluateSteps(rows, meanings, options))};
}

}  // namespace

Verb EvalStepsVerb() {
  return {
      .name = "eval steps",
      .about =
          "Predicts published steps from the words of their rows and compares. "
          "A row that cannot be\npredicted is skipped with its reason.",
      .examples =
          "  stepcast eval steps --data dlrm_end_to_end.csv\n"
          "  stepcast eval steps --data results/ --group model precision "
          "--json",
      .words = "REPORT",
      .words_help = kReportHelp,
      .page = "the report",
      .rows = "a row for each predicted one",
      .takes =
          [](const scenario::Setting& setting) {
            return setting.name == "workload" || setting.name == "profile" ||
                   setting.name == "samples" || setting.name == "seed";
          },
      .arguments =
          {DataArgument("CSV files, or directories with them, with the columns "
                        "of docs/cli.md"),
           {.name = "group",
            .value = "COLUMN",
            .help = "columns whose words make a group; default implementation "
                    "mode gpu",
            .kind = Argument::Kind::kWords},
           {.name = "words",
            .value = "FILE",
            .help = "what the words of the files mean, instead of the built-in "
                    "data/published/words.toml"}},
      .ask = AskEvalSteps};
}

}  // namespace stepcast::api
