// stepcast predict: the time of a step, without running it.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/units.h"
#include "cli/ask_again.h"
#include "cli/commands.h"
#include "cli/extra_file.h"
#include "cli/fail_on.h"
#include "cli/options.h"
#include "cli/predict_command.h"
#include "cli/profile_device.h"
#include "cli/quantities.h"
#include "engine/lin_predict.h"
#include "report/fleet_doc.h"
#include "report/prediction.h"
#include "report/timeline.h"
#include "scenario/settings.h"

namespace stepcast::cli {
namespace {

constexpr std::array kPredictQuantities = {
    kStepTime,
    Quantity{.name = "samples_per_s", .unit = "", .help = "throughput"},
    Quantity{.name = "memory",
             .unit = "%",
             .help = "device memory in use, of what there is"},
    Quantity{.name = "error",
             .unit = "%",
             .help = "largest error of a rank's step, for traces"},
};

std::array<double, kPredictQuantities.size()> ValuesOf(
    const report::PredictionReport& report) {
  double error = 0;
  for (const report::MeasuredStep& measured : report.measured) {
    for (const engine::RankAccount& account : report.ranks) {
      if (account.rank == measured.rank && measured.step > Duration{}) {
        error = std::max(
            error, std::abs(static_cast<double>(account.step.count()) /
                                static_cast<double>(measured.step.count()) -
                            1) *
                       kPercent);
      }
    }
  }
  return {ToMicroseconds(report.step), report.samples_per_s,
          report.memory ? PercentOf(report.memory->hbm_bytes,
                                    report.memory->hbm_capacity_bytes)
                        : 0,
          error};
}

std::array<double, kPredictQuantities.size()> ValuesOf(
    const fleet::FleetPrediction& fleet) {
  double memory = 0;
  for (const fleet::TierUse* tier :
       {&fleet.trainers, &fleet.sparse, &fleet.dense}) {
    memory = std::max(memory, tier->memory_bytes / tier->memory_capacity);
  }
  return {fleet.iteration_us, fleet.samples_per_s, memory * kPercent, 0};
}

// What a fleet has no use for.
Status CheckFleetCommand(const PredictCommand& command) {
  if (command.scenario.server.empty() ||
      command.scenario.workload.size() != 1) {
    return Fail(ErrorCode::kInvalidInput,
                "--trainers without a model and its servers; expected MODEL "
                "--server NAME, too");
  }
  if (!command.perfetto.empty() || !command.scenario.algorithm.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "threads of a fleet have no common step; expected neither "
                "--perfetto nor --algorithm with --trainers");
  }
  return {};
}

void AddOptions(OptionParser& parser, PredictCommand& command) {
  AddWorkloadOptions(parser, command);
  AddPredictOptions(parser, command);
  parser.AddRepeated("--set", command.sets,
                     "any setting by its name, as in batch=4096; may be "
                     "repeated",
                     "NAME=VALUE");
  parser.Add(
      "--perfetto", command.perfetto,
      "write the simulated timeline, of a trace beside the measured one,\n"
      "for Perfetto; .gz is compressed",
      "FILE");
  AddFailOn(parser, kPredictQuantities, command.fail_on);
  AddReportOptions(parser, command.output, "the report with a timeline",
                   "one row");
}

}  // namespace

Status AddAlgorithms(const PredictCommand& command,
                     const engine::StepResult& result,
                     const cost::OverheadTable* overheads, bool profiled,
                     report::PredictionReport& report) {
  constexpr std::array<std::string_view, 3> kNames = {"stepcast", "lin2022",
                                                      "lin2024"};
  for (const std::string& name : command.scenario.algorithm) {
    if (std::ranges::find(kNames, name) == kNames.end()) {
      return Fail(ErrorCode::kInvalidInput, Unknown("algorithm", name, kNames));
    }
    if (name == kNames.front()) {
      continue;
    }
    if (overheads == nullptr) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("--algorithm {} with --overheads measured; "
                              "expected a set of overheads, as self",
                              name));
    }
    const engine::LinPrediction walk = engine::PredictByLinWalk(
        result.graph->data(), result.works, *overheads, profiled,
        name == "lin2022" ? cost::LinVariant::k2022 : cost::LinVariant::k2024);
    report.algorithms.push_back(
        {.name = name, .step = walk.step, .gpu_active = walk.gpu_active});
  }
  if (!command.scenario.algorithm.empty() &&
      command.scenario.algorithm.back() != kNames.front()) {
    report.UseStep(report.algorithms.back().step);
    report.notes.push_back(fmt::format(
        "the step time is by {}; the interval and the breakdown are of "
        "stepcast's own simulation",
        command.scenario.algorithm.back()));
  }
  return {};
}

Status WritePictures(const PredictCommand& command,
                     const engine::StepResult& result,
                     const report::PredictionReport& report) {
  std::vector<ExtraFile> files;
  if (!command.perfetto.empty()) {
    files.push_back({command.perfetto, report::TimelineJson(result)});
  }
  if (!command.output.html.empty()) {
    view::Doc doc = report::PredictionDoc(report, &result);
    doc.asked = command.asked;
    files.push_back(PageOf(std::move(doc), command.output));
  }
  return WriteExtraFiles(files);
}

Result<Outcome> RunPredict(const Words& words) {
  OptionParser parser(
      "predict",
      "Predicts the time of a training or inference step. A workload is a "
      "model, built in or\nin a .toml file, or a recorded step (traces, graph "
      "text), whose kernels are priced anew. A report that --json wrote is "
      "asked again.",
      "  stepcast predict dlrm_mlperf --gpu a100-sxm-80gb --batch 2048\n"
      "  stepcast predict my_model.toml --gpu h100-sxm-80gb --precision bf16\n"
      "  stepcast predict dlrm_mlperf --server 2s-epyc-7742\n"
      "  stepcast predict fleet_m1 --server 2s-skylake --trainers 6 "
      "--sparse-servers 8\n"
      "  stepcast predict traces/ --gpu a100-sxm-80gb --overheads shared\n"
      "  stepcast predict dlrm_default --json --fail-on 'step>10000us'");
  PredictCommand command;
  AddOptions(parser, command);
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return Outcome::kDone;
  }
  ASSIGN_OR_RETURN(const std::vector<Check> checks,
                   ParseChecks(command.fail_on, kPredictQuantities));
  RETURN_IF_ERROR(AskAgain(command));
  RETURN_IF_ERROR(CheckOptions(command));
  RETURN_IF_ERROR(
      CheckReportOptions(command.output, command.scenario.workload));
  command.asked = command.scenario;
  if (scenario::SubjectOfModel(command.scenario) == scenario::Subject::kFleet) {
    RETURN_IF_ERROR(CheckFleetCommand(command));
    ASSIGN_OR_RETURN(const scenario::Job job, ResolveModel(command));
    ASSIGN_OR_RETURN(const fleet::FleetPrediction prediction,
                     fleet::PredictFleet(scenario::FleetRequestOf(job)));
    view::Doc doc = report::FleetDoc(prediction);
    doc.asked = command.asked;
    RETURN_IF_ERROR(WriteExtraFiles(std::array{PageOf(doc, command.output)}));
    RETURN_IF_ERROR(PrintReport(std::move(doc), command.output));
    return RunChecks(checks, kPredictQuantities, ValuesOf(prediction));
  }
  RETURN_IF_ERROR(CheckExtraFile("--perfetto", command.perfetto,
                                 command.scenario.workload));
  const std::vector<std::filesystem::path> profiles(
      command.scenario.profile.begin(), command.scenario.profile.end());
  ASSIGN_OR_RETURN(command.scenario.gpu,
                   GpuOrProfiles(command.scenario.gpu, profiles));
  command.scenario.overheads = OverheadsOrProfiles(
      command.scenario.overheads, command.scenario.gpu, profiles);
  auto report = IsModel(command.scenario.workload) ? PredictModel(command)
                                                   : PredictTrace(command);
  if (!report) {
    return tl::unexpected(report.error());
  }
  view::Doc doc = report::PredictionDoc(*report);
  doc.asked = command.asked;
  RETURN_IF_ERROR(PrintReport(std::move(doc), command.output));
  return RunChecks(checks, kPredictQuantities, ValuesOf(*report));
}

}  // namespace stepcast::cli
