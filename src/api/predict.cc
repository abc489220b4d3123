// predict: the time of a step, without running it.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/predict_step.h"
#include "api/workload.h"
#include "base/units.h"
#include "engine/run/predict_model.h"
#include "fleet/predict_fleet.h"
#include "scenario/settings.h"
#include "view/reports/breakdown.h"
#include "view/reports/fleet_doc.h"
#include "view/reports/model_report.h"
#include "view/timelines/timeline.h"

namespace stepcast::api {
namespace {

std::vector<double> ValuesOf(const view::PredictionReport& report) {
  double error = 0;
  for (const view::MeasuredStep& measured : report.measured) {
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

std::vector<double> ValuesOf(const fleet::FleetPrediction& fleet) {
  double memory = 0;
  for (const fleet::TierUse* tier :
       {&fleet.trainers, &fleet.sparse, &fleet.dense}) {
    memory = std::max(memory, tier->memory_bytes / tier->memory_capacity);
  }
  return {fleet.iteration_us, fleet.samples_per_s, memory * kPercent, 0};
}

// What a fleet has no use for.
Status CheckFleet(const scenario::Scenario& scenario) {
  if (scenario.server.empty() || scenario.workload.size() != 1) {
    return Fail(ErrorCode::kInvalidInput,
                "--trainers without a model and its servers; expected MODEL "
                "--server NAME, too");
  }
  return {};
}

Result<Answer> PredictFleet(const scenario::Scenario& scenario) {
  RETURN_IF_ERROR(CheckFleet(scenario));
  scenario::Resolver resolver = ResolverOf(scenario);
  ASSIGN_OR_RETURN(const scenario::Job job, ResolveModel(scenario, resolver));
  ASSIGN_OR_RETURN(const fleet::FleetPrediction prediction,
                   fleet::PredictFleet(scenario::FleetRequestOf(job)));
  return Answer{.doc = view::FleetDoc(prediction),
                .values = ValuesOf(prediction),
                .fits = prediction.fits()};
}

Result<Answer> AskPredict(const scenario::Question& question,
                          const Options& options) {
  scenario::Scenario scenario = question.scenario;
  RETURN_IF_ERROR(CheckWorkload(scenario));
  if (scenario::SubjectOfModel(scenario) == scenario::Subject::kFleet) {
    return PredictFleet(scenario);
  }
  const std::vector<std::filesystem::path> profiles(scenario.profile.begin(),
                                                    scenario.profile.end());
  ASSIGN_OR_RETURN(scenario.gpu, GpuOrProfiles(scenario.gpu, profiles));
  scenario.overheads =
      OverheadsOrProfiles(scenario.overheads, scenario.gpu, profiles);
  ASSIGN_OR_RETURN(Predicted predicted, IsModel(scenario.workload)
                                            ? PredictModel(scenario, options)
                                            : PredictTrace(scenario, options));
  const auto kept = std::make_shared<const Predicted>(std::move(predicted));
  Answer answer{.doc = view::PredictionDoc(kept->report, &kept->result),
                .values = ValuesOf(kept->report),
                .fits = kept->report.fits(),
                .owner = kept};
  answer.files.emplace("perfetto",
                       [kept] { return view::TimelineJson(kept->result); });
  return answer;
}

}  // namespace

Result<Predicted> PredictModel(const scenario::Scenario& scenario,
                               const Options& how) {
  const bool named = !scenario.workload.empty();
  auto keeper = std::make_shared<scenario::Resolver>(ResolverOf(scenario));
  scenario::Resolver& resolver = *keeper;
  ASSIGN_OR_RETURN(scenario::Job job, ResolveModel(scenario, resolver));
  RETURN_IF_ERROR(resolver.Load(job.request.machine));
  const engine::Request& request = job.request;
  const engine::PredictOptions& options = job.options;
  ASSIGN_OR_RETURN(engine::ModelPrediction predicted,
                   engine::PredictModel(request, options));
  RETURN_IF_ERROR(resolver.store().CheckProfiles());
  view::PredictionReport report =
      view::ReportModel(request, predicted, predicted.result);
  if (how.details) {
    report.ops = view::SumOps(predicted.result);
  }
  const bool placed = !scenario.gpu.empty() || !scenario.platform.empty() ||
                      !scenario.server.empty();
  if (!named || !placed) {
    report.notes.push_back(fmt::format(
        "{}; name others with a workload and --gpu",
        named ? fmt::format("no GPU was named, so this is {}",
                            request.machine.gpu)
              : fmt::format("nothing was named, so this is {} on {}",
                            request.model.name, request.machine.gpu)));
  }
  return Predicted{.resolver = std::move(keeper),
                   .result = std::move(predicted.result),
                   .report = std::move(report)};
}

Verb PredictVerb() {
  return {
      .name = "predict",
      .about =
          "Predicts the time of a training or inference step. A workload is a "
          "model, built in or\nin a .toml file, or a recorded step (traces, "
          "graph text), whose kernels are priced anew. A report that --json "
          "wrote is run again.",
      .examples =
          "  stepcast predict dlrm_mlperf --gpu a100-sxm-80gb --batch 2048\n"
          "  stepcast predict my_model.toml --gpu h100-sxm-80gb --precision "
          "bf16\n"
          "  stepcast predict dlrm_mlperf --server 2s-epyc-7742\n"
          "  stepcast predict fleet_m1 --server 2s-skylake --trainers 6 "
          "--sparse-servers 8\n"
          "  stepcast predict traces/ --gpu a100-sxm-80gb --overheads shared\n"
          "  stepcast predict dlrm_default --json --fail-on 'step>10000us'",
      .page = "the report with a timeline",
      .rows = "one row",
      .takes = [](const scenario::Setting&) { return true; },
      .quantities =
          {{.name = "step", .unit = "us", .help = "predicted step time"},
           {.name = "samples_per_s", .unit = "", .help = "throughput"},
           {.name = "memory",
            .unit = "%",
            .help = "device memory in use, as a share of its capacity"},
           {.name = "error",
            .unit = "%",
            .help = "largest error of a rank's step, for traces"}},
      .files = {{.name = "perfetto",
                 .help =
                     "write the simulated timeline for Perfetto, of a trace "
                     "together with\nthe measured one; .gz is compressed"}},
      .ask = AskPredict};
}

}  // namespace stepcast::api
