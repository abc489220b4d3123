// stepcast replay: measured steps simulated from their own durations.
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/extra_file.h"
#include "cli/fail_on.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "report/replay_doc.h"
#include "report/timeline.h"

namespace stepcast::cli {
namespace {

struct ReplayCommand {
  InputOptions input;
  std::string step;
  std::string perfetto;
  std::vector<std::string> fail_on;
  ReportOptions output;
};

constexpr std::array kReplayQuantities = {
    Quantity{
        .name = "error", .unit = "%", .help = "largest error of a rank's step"},
    Quantity{.name = "max_abs_pct", .unit = "%", .help = "the same"},
    Quantity{.name = "gmae_pct",
             .unit = "%",
             .help = "geometric mean of the errors"},
    Quantity{.name = "unexplained",
             .unit = "us",
             .help = "most unexplained time of a rank's step"},
};

std::array<double, kReplayQuantities.size()> ValuesOf(
    const engine::ReplayedJob& job) {
  return {job.max_abs_pct, job.max_abs_pct, job.errors.gmae_pct,
          ToMicroseconds(job.max_unexplained)};
}

Result<Outcome> Replay(const ReplayCommand& options) {
  RETURN_IF_ERROR(
      CheckExtraFile("--perfetto", options.perfetto, options.input.files));
  RETURN_IF_ERROR(CheckReportOptions(options.output, options.input.files));
  ASSIGN_OR_RETURN(const auto step, ParseNumber("--step", options.step, 0));
  ASSIGN_OR_RETURN(const std::vector<Check> checks,
                   ParseChecks(options.fail_on, kReplayQuantities));
  ASSIGN_OR_RETURN(const Input input,
                   LoadInput(options.input, /*allow_duplicates=*/false));
  const auto job = [&] {
    const Progress progress("replaying steps");
    return engine::ReplayJob(input.loaded.ranks, input.rules,
                             {.step = step, .threads = input.threads});
  }();
  if (!job) {
    return tl::unexpected(job.error());
  }
  view::Doc doc = report::ReplayDoc(*job, options.input.files.front());
  std::vector<ExtraFile> files = {PageOf(doc, options.output)};
  if (!options.perfetto.empty()) {
    files.push_back(
        {options.perfetto,
         report::TimelineJson(job->replay.result, job->step.value_or(0))});
  }
  RETURN_IF_ERROR(WriteExtraFiles(files));
  RETURN_IF_ERROR(PrintReport(std::move(doc), options.output));
  return RunChecks(checks, kReplayQuantities, ValuesOf(*job));
}

}  // namespace

Result<Outcome> RunReplay(const Words& words) {
  OptionParser parser(
      "replay",
      "Simulates measured steps from their own durations and compares. Says "
      "where the time\nof a step went, which rank the others waited for and "
      "why, and what decided its length.",
      "  stepcast replay rank0.json.gz\n"
      "  stepcast replay traces/ --step 12      all ranks, one step\n"
      "  stepcast replay traces/ --perfetto timeline.json.gz\n"
      "  stepcast replay traces/ --json --fail-on 'error>1%'");
  ReplayCommand options;
  AddInputOptions(parser, options.input);
  parser.Add("--step", options.step,
             "number of the step, as in ProfilerStep#N, to replay alone;\n"
             "default: all, with details of the one of median length",
             "N");
  parser.Add("--perfetto", options.perfetto,
             "write the timelines of that step, measured and simulated,\n"
             "for Perfetto; .gz is compressed",
             "FILE");
  AddFailOn(parser, kReplayQuantities, options.fail_on);
  AddReportOptions(parser, options.output, "that step with a timeline",
                   "a row for each rank and step");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  return go_on ? Replay(options) : Result<Outcome>(Outcome::kDone);
}

}  // namespace stepcast::cli
