// stepcast whatif: a step before and after changes.
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/ask_again.h"
#include "cli/commands.h"
#include "cli/extra_file.h"
#include "cli/fail_on.h"
#include "cli/progress.h"
#include "cli/quantities.h"
#include "cli/whatif_command.h"
#include "report/suggestions.h"
#include "report/timeline.h"
#include "report/whatif.h"
#include "whatif/apply.h"
#include "whatif/change.h"
#include "whatif/suggest.h"

namespace stepcast::cli {
namespace {

struct WhatifCommand {
  PredictCommand workload;
  std::vector<std::string> changes;
  bool suggest = false;
};

constexpr std::array kWhatifQuantities = {
    Quantity{.name = "step",
             .unit = "%",
             .help = "change of the step time; negative is a gain"},
    Quantity{.name = "after", .unit = "us", .help = "step time after"},
    Quantity{.name = "memory",
             .unit = "%",
             .help = "device memory in use after, of what there is"},
};

std::array<double, kWhatifQuantities.size()> ValuesOf(
    const report::WhatifReport& report) {
  const auto& memory = report.after.memory;
  return {
      PercentOf(ToMicroseconds(report.delta.step),
                ToMicroseconds(report.before.step)),
      ToMicroseconds(report.after.step),
      memory ? PercentOf(memory->hbm_bytes, memory->hbm_capacity_bytes) : 0};
}

Result<std::vector<whatif::Change>> ParseChanges(
    const std::vector<std::string>& texts) {
  std::vector<whatif::Change> changes;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(whatif::Change change, whatif::ParseChange(text));
    changes.push_back(std::move(change));
  }
  if (changes.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no change given; expected --change NAME=VALUE, as in "
                "`stepcast list changes`, or --suggest");
  }
  return changes;
}

Result<Outcome> SuggestChanges(const WhatifCommand& command) {
  const PredictCommand& workload = command.workload;
  if (!command.changes.empty() || !workload.perfetto.empty() ||
      !workload.fail_on.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "--suggest tries changes by itself; expected it without "
                "--change, --perfetto and --fail-on");
  }
  engine::Predictor predictor = PredictorOf(workload);
  ASSIGN_OR_RETURN(const whatif::Case before, LoadCase(workload, predictor));
  const Progress progress("trying changes");
  view::Doc doc = report::SuggestionsDoc(
      report::ReportSuggestions(before, whatif::Suggest(before, predictor),
                                NameOf(workload)),
      before);
  doc.asked = workload.scenario;
  RETURN_IF_ERROR(WriteExtraFiles(std::array{PageOf(doc, workload.output)}));
  RETURN_IF_ERROR(PrintReport(std::move(doc), workload.output));
  return Outcome::kDone;
}

Result<Outcome> Whatif(const WhatifCommand& command) {
  RETURN_IF_ERROR(CheckReportOptions(command.workload.output,
                                     command.workload.scenario.workload));
  if (command.suggest) {
    return SuggestChanges(command);
  }
  const PredictCommand& workload = command.workload;
  ASSIGN_OR_RETURN(const std::vector<Check> checks,
                   ParseChecks(workload.fail_on, kWhatifQuantities));
  RETURN_IF_ERROR(CheckExtraFile("--perfetto", workload.perfetto,
                                 workload.scenario.workload));
  ASSIGN_OR_RETURN(const std::vector<whatif::Change> changes,
                   ParseChanges(command.changes));
  engine::Predictor predictor = PredictorOf(workload);
  ASSIGN_OR_RETURN(const whatif::Case before, LoadCase(workload, predictor));
  ASSIGN_OR_RETURN(const whatif::Changed changed,
                   whatif::Apply(before, changes, predictor));
  std::vector<ExtraFile> files;
  if (!workload.perfetto.empty()) {
    files.push_back(
        {workload.perfetto,
         report::TimelineJson(before.result, changed.after.result)});
  }
  const report::WhatifReport report =
      report::ReportWhatif(before, changed, changes, NameOf(workload));
  view::Doc doc = report::WhatifDoc(report, before, changed.after);
  doc.asked = workload.scenario;
  files.push_back(PageOf(doc, workload.output));
  RETURN_IF_ERROR(WriteExtraFiles(files));
  RETURN_IF_ERROR(PrintReport(std::move(doc), workload.output));
  return RunChecks(checks, kWhatifQuantities, ValuesOf(report));
}

}  // namespace

Result<Outcome> RunWhatif(const Words& words) {
  OptionParser parser(
      "whatif",
      "Predicts what changes do to a step: of a model, or of a recorded step, "
      "in which all\nthat a change leaves alone keeps its measured time.",
      "  stepcast whatif dlrm_mlperf --gpu v100-sxm-16gb --change "
      "precision=amp-fp16\n"
      "  stepcast whatif traces/ --change drop-op=aten::index_select\n"
      "  stepcast whatif traces/ --change scale-op=gemm=0.5 --change "
      "remove-sync\n"
      "  stepcast whatif trace.json.gz --change gpu=h100-sxm-80gb --json\n"
      "  stepcast whatif trace.json.gz --suggest");
  WhatifCommand command;
  AddWorkloadOptions(parser, command.workload);
  parser.AddRepeated("--change", command.changes,
                     "what to change, as in `stepcast list changes`; may be\n"
                     "repeated: changes go on top of each other",
                     "NAME=VALUE");
  parser.AddFlag("--suggest", command.suggest,
                 "try single changes and rank them by what they gain");
  parser.Add("--perfetto", command.workload.perfetto,
             "write both timelines for Perfetto; .gz is compressed", "FILE");
  AddFailOn(parser, kWhatifQuantities, command.workload.fail_on);
  AddReportOptions(parser, command.workload.output,
                   "both steps with timelines, or suggestions",
                   "a row for each part or suggestion");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  return go_on ? Whatif(command) : Result<Outcome>(Outcome::kDone);
}

}  // namespace stepcast::cli
