#include "api/workload.h"

#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "api/input.h"
#include "base/units.h"
#include "cost/overheads/overhead_files.h"
#include "scenario/resolve.h"
#include "scenario/settings.h"
#include "workload/model_files.h"

namespace stepcast::api {
namespace {

// A step whose times are not known is predicted as those of models are.
Result<whatif::Case> PredictGraph(std::shared_ptr<const ir::Graph> graph,
                                  const engine::Machine& machine,
                                  const scenario::Scenario& scenario,
                                  scenario::Resolver& resolver) {
  ASSIGN_OR_RETURN(const scenario::Job times, scenario::ResolveTimes(scenario));
  ASSIGN_OR_RETURN(const cost::KernelModels* models,
                   resolver.store().Kernels(machine.device));
  ASSIGN_OR_RETURN(const Named<cost::OverheadTable> overheads,
                   resolver.Overheads(scenario.overheads.empty()
                                          ? std::string(cost::kSharedOverheads)
                                          : scenario.overheads));
  ASSIGN_OR_RETURN(engine::StepResult result,
                   engine::Predict({.graph = std::move(graph),
                                    .models = models,
                                    .overheads = overheads.value.get()},
                                   times.options));
  return whatif::CaseOfResult(std::move(result), machine, times.options);
}

}  // namespace

bool IsModel(const std::vector<std::string>& files) {
  if (files.size() != 1) {
    return files.empty();
  }
  return workload::IsModelName(files.front()) ||
         files.front().ends_with(".toml") ||
         !std::filesystem::exists(files.front());
}

Status CheckProfiles(const scenario::Scenario& scenario) {
  for (const std::string& profile : scenario.profile) {
    if (!std::filesystem::is_directory(profile)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("profile {} is no directory; expected one that "
                              "`stepcast fit` wrote",
                              profile));
    }
  }
  return {};
}

Status CheckWorkload(const scenario::Scenario& scenario) {
  RETURN_IF_ERROR(CheckProfiles(scenario));
  if (!IsModel(scenario.workload)) {
    return scenario::CheckSubject(scenario, scenario::Subject::kTrace);
  }
  return {};
}

Result<scenario::Job> ResolveModel(const scenario::Scenario& scenario,
                                   scenario::Resolver& resolver) {
  const bool on_gpus = !(scenario.gpu + scenario.platform).empty();
  const bool servers =
      !(scenario.server + scenario.sparse_server + scenario.sparse_servers)
           .empty();
  if (on_gpus && servers && scenario.trainers.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "both servers and a GPU or platform; expected one of them, or "
                "a study, which has servers that hold the tables of GPUs");
  }
  ASSIGN_OR_RETURN(scenario::Job job, resolver.Resolve(scenario));
  RETURN_IF_ERROR(scenario::CheckFigures(scenario, job));
  return job;
}

Result<whatif::Case> LoadCase(const scenario::Scenario& scenario,
                              scenario::Resolver& resolver,
                              const Options& options) {
  RETURN_IF_ERROR(CheckWorkload(scenario));
  if (scenario::SubjectOfModel(scenario) == scenario::Subject::kFleet) {
    return Fail(ErrorCode::kInvalidInput,
                "trainers are of `stepcast predict`; expected none of them "
                "here");
  }
  if (IsModel(scenario.workload)) {
    ASSIGN_OR_RETURN(scenario::Job job, ResolveModel(scenario, resolver));
    return whatif::CaseOfModel(std::move(job), resolver);
  }
  ASSIGN_OR_RETURN(TraceInput trace, LoadTrace(scenario, options));
  auto graph = std::make_shared<const ir::Graph>(std::move(trace.graph));
  const Result<std::string> recorded = RecordedGpu(*graph);
  ASSIGN_OR_RETURN(
      engine::Machine machine,
      scenario::MachineOfSteps(
          !scenario.gpu.empty() ? scenario.gpu : recorded.value_or(""),
          scenario.platform, graph->data()));
  if (graph->is_timed()) {
    ASSIGN_OR_RETURN(const scenario::Job times,
                     scenario::ResolveTimes(scenario));
    return whatif::CaseOfTrace(std::move(graph), std::move(machine),
                               times.options);
  }
  if (machine.gpu.empty()) {
    return tl::unexpected(recorded.error());
  }
  return PredictGraph(std::move(graph), machine, scenario, resolver);
}

std::string NameOf(const scenario::Scenario& scenario) {
  return scenario.workload.empty() ? "" : scenario.workload.front();
}

bool IsOfSteps(const scenario::Setting& setting) {
  return !setting.OfFleets();
}

bool IsOfTraces(const scenario::Setting& setting) {
  return setting.section == scenario::Section::kWorkload;
}

double PercentOf(double part, double whole) {
  return whole > 0 ? kPercent * part / whole : 0;
}

}  // namespace stepcast::api
