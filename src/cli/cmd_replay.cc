// stepcast replay: measured steps simulated from their own durations.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/fail_on.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/output_formats.h"
#include "cli/progress.h"
#include "report/replay_json.h"
#include "report/replay_report.h"
#include "report/replay_text.h"
#include "report/timeline.h"

namespace stepcast::cli {
namespace {

struct ReplayCommand {
  InputOptions input;
  std::string step;
  std::string perfetto;
  std::vector<std::string> fail_on;
  bool json = false;
};

constexpr std::array kQuantities = {
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

std::array<double, kQuantities.size()> ValuesOf(
    const report::ReplayReport& report) {
  return {report.max_abs_pct, report.max_abs_pct, report.errors.gmae_pct,
          ToMicroseconds(report.max_unexplained)};
}

Status WriteTimeline(const report::ReplayedJob& job, const std::string& path) {
  std::string text = report::ReplayTimeline(
      job.graph, job.replay, job.report.details.step.value_or(0));
  if (IsGzipPath(path)) {
    ASSIGN_OR_RETURN(text, Gzip(text));
  }
  return WriteOutput(path, text);
}

Result<Outcome> Replay(const ReplayCommand& options) {
  if (options.perfetto == "-") {
    return Fail(ErrorCode::kInvalidInput,
                "--perfetto is '-'; expected a file, standard output has the "
                "report");
  }
  ASSIGN_OR_RETURN(const auto step, ParseNumber("--step", options.step, 0));
  ASSIGN_OR_RETURN(const std::vector<Check> checks,
                   ParseChecks(options.fail_on, kQuantities));
  ASSIGN_OR_RETURN(const Input input,
                   LoadInput(options.input, /*allow_duplicates=*/false));
  const auto job = [&] {
    const Progress progress("replaying steps");
    return report::ReplayJob(input.loaded.ranks, input.rules,
                             {.step = step, .threads = input.threads});
  }();
  if (!job) {
    return tl::unexpected(job.error());
  }
  if (!options.perfetto.empty()) {
    RETURN_IF_ERROR(CheckNotInput(options.perfetto, options.input.files));
    RETURN_IF_ERROR(WriteTimeline(*job, options.perfetto));
  }
  RETURN_IF_ERROR(Print(options.json
                            ? report::ReplayJson(job->report, Version())
                            : report::ReplayText(job->report)));
  return RunChecks(checks, kQuantities, ValuesOf(job->report));
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
  AddFailOn(parser, kQuantities, options.fail_on);
  parser.AddFlag("--json", options.json, "print one JSON object instead");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  return go_on ? Replay(options) : Result<Outcome>(Outcome::kDone);
}

}  // namespace stepcast::cli
