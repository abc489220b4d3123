#include "api/workload.h"

#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/text/join.h"
#include "base/units.h"
#include "cost/overheads/overhead_table.h"
#include "hw/device.h"
#include "hw/gpu_names.h"
#include "model/read_model.h"
#include "scenario/resolve.h"
#include "scenario/settings.h"
#include "trace/build/build_graph.h"

namespace stepcast::api {
namespace {

std::vector<std::filesystem::path> Paths(
    const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

Status KeepRank(int64_t rank, trace::Loaded& loaded) {
  std::vector<std::string> known;
  for (const trace::RankTrace& trace : loaded.ranks) {
    known.push_back(fmt::format("{}", trace.rank));
  }
  std::erase_if(loaded.ranks, [&](const trace::RankTrace& trace) {
    return trace.rank != rank;
  });
  if (loaded.ranks.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("--rank is {}; expected one of those found: {}",
                            rank, Join(known, ", ")));
  }
  return {};
}

}  // namespace

Result<Input> LoadInput(const scenario::Scenario& scenario,
                        const Options& options, bool allow_duplicates) {
  if (scenario.workload.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no file given; expected one or more traces");
  }
  ASSIGN_OR_RETURN(const auto rank, ParseNumber("--rank", scenario.rank, 0));
  options.ReportProgress("reading traces");
  Input input;
  ASSIGN_OR_RETURN(input.rules, trace::Rules::Load(Paths(scenario.rules)));
  ASSIGN_OR_RETURN(input.loaded,
                   trace::Load(Paths(scenario.workload), input.rules,
                               {.threads = options.threads,
                                .allow_duplicates = allow_duplicates}));
  if (rank) {
    RETURN_IF_ERROR(KeepRank(*rank, input.loaded));
  }
  RETURN_IF_ERROR(options.Check());
  return input;
}

Result<TraceInput> LoadTrace(const scenario::Scenario& scenario,
                             const Options& options) {
  ASSIGN_OR_RETURN(Input input,
                   LoadInput(scenario, options, /*allow_duplicates=*/false));
  ASSIGN_OR_RETURN(const auto step, ParseNumber("--step", scenario.step, 0));
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(ir::Graph graph,
                   trace::BuildGraph(input.loaded.ranks, input.rules,
                                     {.step = step}, diagnostics));
  return TraceInput{.input = std::move(input), .graph = std::move(graph)};
}

Result<std::string> RecordedGpu(const ir::Graph& graph) {
  const std::vector<std::string>& names = hw::GpuNames();
  for (const ir::Rank& rank : graph.data().ranks) {
    if (auto nearest = hw::NearestGpu(graph.text(rank.gpu), names)) {
      return *std::move(nearest);
    }
  }
  return Fail(ErrorCode::kInvalidInput,
              "the trace does not name a GPU we know; expected --gpu NAME");
}

Result<std::optional<int64_t>> ParseNumber(std::string_view option,
                                           const std::string& text,
                                           int64_t least) {
  if (text.empty()) {
    return std::nullopt;
  }
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} is '{}'; expected a whole number, {} or more",
                            option, text, least));
  }
  return number;
}

std::optional<std::filesystem::path> FindIn(
    std::span<const std::filesystem::path> directories, std::string_view name) {
  for (const std::filesystem::path& directory : directories) {
    std::filesystem::path path = directory / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) {
      return path;
    }
  }
  return std::nullopt;
}

Result<std::optional<hw::Device>> FindOwnDevice(
    std::span<const std::filesystem::path> directories) {
  const auto file = FindIn(directories, kDeviceFile);
  if (!file) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(hw::Device device, hw::FindDevice(file->string()));
  return device;
}

Result<std::string> GpuOrProfiles(
    const std::string& gpu, std::span<const std::filesystem::path> profiles) {
  const auto file = FindIn(profiles, kDeviceFile);
  if (!file) {
    return gpu;
  }
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(file->string()));
  return gpu.empty() || gpu == device.name ? file->string() : gpu;
}

std::string OverheadsOrProfiles(
    const std::string& overheads, const std::string& gpu,
    std::span<const std::filesystem::path> profiles) {
  const auto device = FindIn(profiles, kDeviceFile);
  const auto file = FindIn(profiles, kOverheadsFile);
  const bool own = device && file && gpu == device->string();
  return overheads.empty() && own ? file->string() : overheads;
}

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
  return model::IsModelName(files.front()) ||
         files.front().ends_with(".toml") ||
         !std::filesystem::exists(files.front());
}

Status CheckProfiles(const scenario::Scenario& scenario) {
  for (const std::string& profile : scenario.profile) {
    if (!std::filesystem::is_directory(profile)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("profile {} is not a directory; expected one "
                              "that `stepcast fit` wrote",
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
