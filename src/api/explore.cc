// explore: many predictions as one table.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/workload.h"
#include "base/text/text_table.h"
#include "explore/read_study.h"
#include "explore/run_study.h"
#include "explore/select_rows.h"
#include "view/reports/explored_doc.h"

namespace stepcast::api {
namespace {

// Rows of a table that a person reads; more are cut to the best.
constexpr int64_t kMostShown = 40;
constexpr size_t kUsualTop = 20;

Result<explore::Selection> ReadSelection(const scenario::Question& question) {
  explore::Selection selection{.where = question.One("where"),
                               .by = question.One("by")};
  ASSIGN_OR_RETURN(selection.top, ParseNumber("--top", question.One("top"), 1));
  return selection;
}

Result<explore::Study> ReadStudy(const scenario::Question& question) {
  const std::vector<std::string>& studies = question.scenario.workload;
  if (studies.size() != 1) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("explore takes one study, not {}; expected a name "
                            "of `stepcast list studies` or a .toml file",
                            studies.size()));
  }
  ASSIGN_OR_RETURN(const auto limit,
                   ParseNumber("--limit", question.One("limit"), 1));
  ASSIGN_OR_RETURN(
      explore::Study study,
      explore::FindStudy(studies.front(), limit.value_or(explore::kMostRows)));
  ASSIGN_OR_RETURN(const auto samples,
                   ParseNumber("--samples", question.scenario.samples, 0));
  if (samples) {
    study.samples = static_cast<uint32_t>(*samples);
  }
  RETURN_IF_ERROR(explore::CheckRows(study));
  return study;
}

// "exploring: 1,200 of 10,000 rows, about 9 s left".
std::string ProgressText(int64_t done, int64_t all,
                         std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  const double left = taken.count() / static_cast<double>(done) *
                      static_cast<double>(all - done);
  return fmt::format("exploring: {} of {} rows, about {:.0f} s left",
                     WithThousands(done), WithThousands(all), left);
}

Result<std::vector<explore::Row>> RunRows(const explore::Study& study,
                                          const scenario::Scenario& scenario,
                                          const Options& how) {
  if (how.process.count > 1 && how.directory.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} processes and no --out; expected a directory "
                            "that all of them see",
                            how.process.count));
  }
  explore::RunOptions options{
      .threads = how.threads,
      .directory = how.directory,
      .version = std::string(Version()),
      .profiles = {scenario.profile.begin(), scenario.profile.end()},
      .process = how.process,
      .patience = how.patience};
  how.ReportProgress("exploring");
  const auto start = std::chrono::steady_clock::now();
  options.progress = [&](int64_t done, int64_t all) {
    // Texts of every row would cost more than they tell.
    constexpr int64_t kUpdates = 200;
    if (done % std::max<int64_t>(all / kUpdates, 1) == 0) {
      how.ReportProgress(ProgressText(done, all, start));
    }
    return !how.IsCancelled();
  };
  return explore::RunStudy(study, options);
}

Result<Answer> AskExplore(const scenario::Question& question,
                          const Options& options) {
  const scenario::Scenario& scenario = question.scenario;
  RETURN_IF_ERROR(CheckProfiles(scenario));
  ASSIGN_OR_RETURN(const explore::Selection selection, ReadSelection(question));
  const auto explored = std::make_shared<explore::Explored>();
  ASSIGN_OR_RETURN(explored->study, ReadStudy(question));
  RETURN_IF_ERROR(explore::CheckSelection(explored->study, selection));
  ASSIGN_OR_RETURN(explored->rows, RunRows(explored->study, scenario, options));
  if (options.process.number > 0) {
    return Answer{};  // The first process reports.
  }
  view::ExploredView shown{.tornado = question.Has("tornado")};
  ASSIGN_OR_RETURN(shown.rows, explore::SelectRows(*explored, selection));
  shown.sorted = !selection.by.empty();
  if (std::ssize(shown.rows) > kMostShown && !selection.top) {
    shown.limit = kUsualTop;
  }
  const bool wants_tornados = shown.tornado || options.details ||
                              options.page || !options.directory.empty();
  const std::vector<explore::Tornado> tornados =
      wants_tornados
          ? explore::MakeTornados(explored->study, {scenario.profile.begin(),
                                                    scenario.profile.end()})
          : std::vector<explore::Tornado>();
  Answer answer{.doc = view::ExploredDoc(*explored, std::move(shown), tornados),
                .owner = explored};
  view::ExploredView all;
  all.rows.resize(explored->rows.size());
  std::iota(all.rows.begin(), all.rows.end(), 0);
  answer.whole = view::ExploredDoc(*explored, std::move(all), tornados);
  return answer;
}

}  // namespace

Verb ExploreVerb() {
  return {
      .name = "explore",
      .about =
          "Predicts every row of a study: models by machines by settings, on "
          "all cores. What does\nnot fit in memory is a row that says so. "
          "Without --samples the study says how many.",
      .examples =
          "  stepcast explore batch_sweep\n"
          "  stepcast explore my_study.toml -o results --html page.html\n"
          "  stepcast explore production_models --tornado\n"
          "  stepcast explore feature_sweep --where 'fits and "
          "samples_per_s>1e5' --top 5\n"
          "  mpirun -n 4 stepcast explore my_study.toml -o results",
      .words = "STUDY",
      .words_help =
          "a built-in study (`stepcast list studies`) or a .toml file",
      .page = "charts and rows",
      .rows = "all rows with all columns",
      .takes =
          [](const scenario::Setting& setting) {
            return setting.name == "workload" || setting.name == "profile" ||
                   setting.name == "samples";
          },
      .arguments =
          {{.name = "where",
            .value = "EXPR",
            .help = "rows to show, as in 'samples_per_s>1e6 and fits'"},
           {.name = "top", .value = "N", .help = "show this many rows"},
           {.name = "by",
            .value = "COLUMN",
            .help = "column to sort by, largest first; -COLUMN: smallest "
                    "first;\ndefault with --top: samples_per_s"},
           {.name = "tornado",
            .value = "",
            .help =
                "how much the study's conclusions depend on uncertain inputs",
            .kind = Argument::Kind::kFlag},
           {.name = "limit",
            .value = "N",
            .help = "refuse studies with more rows; default 1,000,000"}},
      .is_search = true,
      .is_study = true,
      .ask = AskExplore};
}

}  // namespace stepcast::api
