// stepcast explore: many predictions as one table.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/input.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/env_process.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "explore/run_study.h"
#include "explore/select_rows.h"
#include "explore/study_files.h"
#include "explore/tornado.h"
#include "report/explored_doc.h"
#include "view/write.h"

namespace stepcast::cli {
namespace {

// Rows of a table that a person reads; more are cut to the best.
constexpr int64_t kMostShown = 40;
constexpr size_t kUsualTop = 20;

struct ExploreCommand {
  std::vector<std::string> studies;
  std::string out;
  std::string where;
  std::string top;
  std::string by;
  std::string threads;
  std::string limit;
  std::string samples;
  std::string patience;
  std::vector<std::string> profiles;
  ReportOptions output;
  bool tornado = false;
};

void AddOptions(OptionParser& parser, ExploreCommand& command) {
  parser.Add("STUDY", command.studies,
             "a built-in study (`stepcast list studies`) or a .toml file", "");
  parser.Add("-o,--out", command.out,
             "keep finished rows there, so that a study that was killed goes\n"
             "on, and write rows.csv and rows.json; needed under mpirun",
             "DIR");
  parser.Add("--where", command.where,
             "rows to show, as in 'samples_per_s>1e6 and fits'", "EXPR");
  parser.Add("--top", command.top, "show so many rows", "N");
  parser.Add("--by", command.by,
             "column whose largest come first, -COLUMN: smallest; default\n"
             "with --top: samples_per_s",
             "COLUMN");
  parser.AddFlag("--tornado", command.tornado,
                 "how far the study's conclusions hang on uncertain inputs");
  parser.Add("--samples", command.samples,
             "draws for p10 and p90 of each row; default: the study's", "N");
  parser.AddRepeated("--profile", command.profiles,
                     "directory that `stepcast fit` wrote; may be repeated",
                     "DIR");
  parser.Add("--limit", command.limit, "most rows; default 1,000,000", "N");
  parser.Add("--threads", command.threads, "threads to use; 0: one a core",
             "N");
  parser.Add("--patience", command.patience,
             "seconds in which other processes must be heard of; default 60",
             "S");
  AddReportOptions(parser, command.output, "charts and rows",
                   "all rows with all columns");
}

Result<explore::Selection> ReadSelection(const ExploreCommand& command) {
  explore::Selection selection{.where = command.where, .by = command.by};
  ASSIGN_OR_RETURN(selection.top, api::ParseNumber("--top", command.top, 1));
  return selection;
}

Result<explore::Study> ReadStudy(const ExploreCommand& command) {
  if (command.studies.size() != 1) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("explore takes one study, not {}; expected a name "
                            "of `stepcast list studies` or a .toml file",
                            command.studies.size()));
  }
  ASSIGN_OR_RETURN(const auto limit,
                   api::ParseNumber("--limit", command.limit, 1));
  ASSIGN_OR_RETURN(explore::Study study,
                   explore::FindStudy(command.studies.front(),
                                      limit.value_or(explore::kMostRows)));
  ASSIGN_OR_RETURN(const auto samples,
                   api::ParseNumber("--samples", command.samples, 0));
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

Result<explore::RunOptions> ReadRunOptions(const ExploreCommand& command) {
  explore::RunOptions options;
  ASSIGN_OR_RETURN(const auto threads,
                   api::ParseNumber("--threads", command.threads, 0));
  ASSIGN_OR_RETURN(const auto patience,
                   api::ParseNumber("--patience", command.patience, 1));
  ASSIGN_OR_RETURN(options.process, EnvProcess());
  options.threads = static_cast<size_t>(threads.value_or(0));
  options.directory = command.out;
  options.version = api::Version();
  for (const std::string& profile : command.profiles) {
    if (!std::filesystem::is_directory(profile)) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("--profile {} is no directory; expected one that "
                              "`stepcast fit` wrote",
                              profile));
    }
    options.profiles.emplace_back(profile);
  }
  if (patience) {
    options.patience = std::chrono::seconds(*patience);
  }
  if (options.process.count > 1 && command.out.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} processes and no --out; expected a directory "
                            "that all of them see",
                            options.process.count));
  }
  return options;
}

Result<std::vector<explore::Row>> Run(const explore::Study& study,
                                      explore::RunOptions options) {
  Progress progress("exploring");
  const InterruptGuard guard;
  const auto start = std::chrono::steady_clock::now();
  options.progress = [&](int64_t done, int64_t all) {
    // Texts of every row would cost more than they tell.
    constexpr int64_t kUpdates = 200;
    if (done % std::max<int64_t>(all / kUpdates, 1) == 0) {
      progress.Set(ProgressText(done, all, start));
    }
    return !InterruptGuard::Noted();
  };
  return explore::RunStudy(study, options);
}

Status WriteFiles(const ExploreCommand& command,
                  const explore::Explored& explored,
                  const std::vector<explore::Tornado>& tornados) {
  if (command.out.empty()) {
    return {};
  }
  report::ExploredView all;
  all.rows.resize(explored.rows.size());
  std::iota(all.rows.begin(), all.rows.end(), 0);
  view::Doc doc = report::ExploredDoc(explored, std::move(all), tornados);
  doc.version = api::Version();
  const std::filesystem::path directory = command.out;
  RETURN_IF_ERROR(WriteOutputPieces(
      directory / "rows.csv",
      [&](const view::Sink& sink) { view::WriteCsv(doc, sink); }));
  return WriteOutputPieces(
      directory / "rows.json",
      [&](const view::Sink& sink) { view::WriteJson(doc, sink); });
}

Status Tell(const ExploreCommand& command, const explore::Explored& explored,
            const explore::Selection& selection) {
  report::ExploredView shown{.tornado = command.tornado};
  ASSIGN_OR_RETURN(shown.rows, explore::SelectRows(explored, selection));
  shown.sorted = !selection.by.empty();
  if (std::ssize(shown.rows) > kMostShown && !selection.top) {
    shown.limit = kUsualTop;
  }
  const bool wants_tornados = command.tornado || command.output.json ||
                              !command.output.html.empty() ||
                              !command.out.empty();
  const std::vector<explore::Tornado> tornados =
      wants_tornados
          ? explore::MakeTornados(explored.study, {command.profiles.begin(),
                                                   command.profiles.end()})
          : std::vector<explore::Tornado>();
  RETURN_IF_ERROR(WriteFiles(command, explored, tornados));
  return WriteReport(report::ExploredDoc(explored, std::move(shown), tornados),
                     command.output);
}

}  // namespace

Result<Outcome> RunExplore(const Words& words) {
  OptionParser parser(
      "explore",
      "Predicts every row of a study: models by machines by settings, on all "
      "cores. What does\nnot fit in memory is a row that says so.",
      "  stepcast explore batch_sweep\n"
      "  stepcast explore my_study.toml -o results --html page.html\n"
      "  stepcast explore production_models --tornado\n"
      "  stepcast explore feature_sweep --where 'fits and "
      "samples_per_s>1e5' --top 5\n"
      "  mpirun -n 4 stepcast explore my_study.toml -o results");
  ExploreCommand command;
  AddOptions(parser, command);
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return Outcome::kDone;
  }
  RETURN_IF_ERROR(CheckReportOptions(command.output, command.studies));
  ASSIGN_OR_RETURN(const explore::Selection selection, ReadSelection(command));
  ASSIGN_OR_RETURN(const explore::RunOptions options, ReadRunOptions(command));
  explore::Explored explored;
  ASSIGN_OR_RETURN(explored.study, ReadStudy(command));
  RETURN_IF_ERROR(explore::CheckSelection(explored.study, selection));
  ASSIGN_OR_RETURN(explored.rows, Run(explored.study, options));
  if (options.process.number > 0) {
    return Outcome::kDone;  // The first one tells.
  }
  RETURN_IF_ERROR(Tell(command, explored, selection));
  return Outcome::kDone;
}

}  // namespace stepcast::cli
