// Predicts a recorded step with kernel times from models and the host's time
// from a set of overheads.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/predict_step.h"
#include "api/workload.h"
#include "learn/fit/overheads/fit_overheads.h"
#include "learn/fit/overheads/held_out_overheads.h"
#include "learn/fit/overheads/overhead_samples.h"
#include "scenario/resolve.h"
#include "view/reports/breakdown.h"

namespace stepcast::api {
namespace {

// The set made of the trace's own steps.
constexpr std::string_view kSelf = "self";
// The host's time as it was measured, segment by segment.
constexpr std::string_view kMeasured = "measured";

Result<cost::OverheadTable> OwnOverheads(const Input& input) {
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(
      const std::vector<learn::StepGraph> steps,
      learn::BuildStepGraphs(input.loaded.ranks, input.rules, diagnostics));
  const std::vector<bool> steady = learn::SteadySteps(steps);
  learn::OverheadSamples samples;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steady[i]) {
      learn::AddSamples(steps[i].graph.data(), 0, samples);
    }
  }
  return cost::OverheadTable(
      learn::FitOverheads(samples, {.name = std::string(kSelf)}));
}

// What a bandwidth-bound kernel of the recorded GPU takes on another.
Result<double> BandwidthRatio(scenario::Resolver& resolver,
                              std::string_view recorded,
                              const cost::KernelModels& wanted) {
  ASSIGN_OR_RETURN(const Named<hw::Device> gpu, scenario::FindGpu(recorded));
  ASSIGN_OR_RETURN(const cost::KernelModels* from,
                   resolver.store().Kernels(gpu));
  return from->machine().copy_rate() / wanted.machine().copy_rate();
}

}  // namespace

Result<Predicted> PredictTrace(const scenario::Scenario& scenario,
                               const Options& how) {
  if (!scenario.platform.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "platform means nothing for a predicted recording: what its "
                "servers add to a collective is not known; predict its model "
                "there");
  }
  ASSIGN_OR_RETURN(TraceInput trace, LoadTrace(scenario, how));
  const auto graph = std::make_shared<const ir::Graph>(std::move(trace.graph));
  auto keeper = std::make_shared<scenario::Resolver>(ResolverOf(scenario));
  scenario::Resolver& resolver = *keeper;
  const Result<std::string> recorded = RecordedGpu(*graph);
  if (!recorded && scenario.gpu.empty()) {
    return tl::unexpected(recorded.error());
  }
  const std::string gpu = scenario.gpu.empty() ? *recorded : scenario.gpu;
  ASSIGN_OR_RETURN(const Named<hw::Device> device, scenario::FindGpu(gpu));
  RETURN_IF_ERROR(scenario::CheckRecordedGpu(*device));
  ASSIGN_OR_RETURN(const cost::KernelModels* models,
                   resolver.store().Kernels(device));

  ASSIGN_OR_RETURN(scenario::Job times, scenario::ResolveTimes(scenario));
  engine::PredictOptions& options = times.options;
  options.price.same_gpu = recorded && *recorded == gpu;
  if (recorded && !options.price.same_gpu) {
    ASSIGN_OR_RETURN(options.price.measured_factor,
                     BandwidthRatio(resolver, *recorded, *models));
  }
  options.repeats = graph->is_timed() ? 1 : options.repeats;
  options.rank_offsets = graph->is_timed();
  options.profiled = graph->is_timed() || scenario.profiled;
  const std::string name = !scenario.overheads.empty() ? scenario.overheads
                           : graph->is_timed()         ? std::string(kSelf)
                                                       : "shared";
  std::optional<cost::OverheadTable> own;
  Named<cost::OverheadTable> found;
  const cost::OverheadTable* overheads = nullptr;
  if (name == kSelf) {
    how.ReportProgress("fitting the trace's own overheads");
    ASSIGN_OR_RETURN(own, OwnOverheads(trace.input));
    overheads = &*own;
  } else if (name != kMeasured) {
    ASSIGN_OR_RETURN(found, resolver.Overheads(name));
    overheads = found.value.get();
  }
  ASSIGN_OR_RETURN(
      engine::StepResult result,
      engine::Predict(
          {.graph = graph, .models = models, .overheads = overheads}, options));
  RETURN_IF_ERROR(resolver.store().CheckProfiles());
  view::PredictionReport report = view::ReportPrediction(
      result,
      {.workload = scenario.workload.front(),
       .platform = "",
       .gpu = gpu,
       .num_gpus = static_cast<int64_t>(graph->data().ranks.size()),
       .overheads = name,
       .window = graph->is_timed() ? "the recorded step, with its profiler"
                                   : "steady step"});
  report.models = graph->is_timed() ? models : nullptr;
  if (how.details) {
    report.ops = view::SumOps(result);
  }
  if (scenario.gpu.empty()) {
    report.notes.push_back(
        fmt::format("recorded as '{}', taken for {}",
                    graph->text(graph->data().ranks.begin()->gpu), gpu));
  }
  return Predicted{.resolver = std::move(keeper),
                   .result = std::move(result),
                   .report = std::move(report)};
}

}  // namespace stepcast::api
