#include "api/workload.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/stats.h"
#include "base/text/join.h"
#include "base/units.h"
#include "cost/overheads/overhead_table.h"
#include "hw/device.h"
#include "hw/gpu_names.h"
#include "learn/fit/overheads/fit_overheads.h"
#include "learn/fit/overheads/held_out_overheads.h"
#include "learn/fit/overheads/overhead_samples.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "scenario/resolve.h"
#include "scenario/settings.h"
#include "trace/build/build_graph.h"
#include "trace/link/find_steps.h"
#include "whatif/apply.h"
#include "whatif/change.h"

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
  const Result<std::optional<int64_t>> number =
      trace::StepNumber(input.loaded.ranks, step);
  const auto distances = trace::StepDistances(input.loaded.ranks);
  const auto distance =
      number && *number ? distances.find(**number) : distances.end();
  return TraceInput{
      .input = std::move(input),
      .graph = std::make_shared<const ir::Graph>(std::move(graph)),
      .distance = distance == distances.end()
                      ? std::nullopt
                      : std::optional(distance->second)};
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

// The set for a step whose host was not named. FBGEMM's lookups stand for
// TorchRec, through which models usually call them.
std::string UsualOverheads(const ir::Graph& graph) {
  constexpr std::string_view kLookup = "fbgemm::split_embedding_codegen_lookup";
  for (const ir::Op& op : graph.data().ops) {
    if (graph.text(op.name).starts_with(kLookup)) {
      const auto torchrec = model::FindImplementation("torchrec");
      return std::string(torchrec ? (*torchrec)->overheads
                                  : cost::kSharedOverheads);
    }
  }
  return std::string(cost::kSharedOverheads);
}

// A step whose times are not known is predicted as those of models are.
Result<whatif::Case> PredictGraph(std::shared_ptr<const ir::Graph> graph,
                                  const engine::Machine& machine,
                                  const scenario::Scenario& scenario,
                                  scenario::Resolver& resolver) {
  ASSIGN_OR_RETURN(scenario::Job times, scenario::ResolveTimes(scenario));
  ASSIGN_OR_RETURN(const cost::KernelModels* models,
                   resolver.store().Kernels(machine.device));
  if (machine.cluster) {
    ASSIGN_OR_RETURN(times.options.price.collectives.models,
                     resolver.store().Collectives(machine.cluster));
    times.options.price.collectives.ranks = machine.cluster->gpu_count();
  }
  ASSIGN_OR_RETURN(
      const Named<cost::OverheadTable> overheads,
      resolver.Overheads(scenario.overheads.empty() ? UsualOverheads(*graph)
                                                    : scenario.overheads));
  ASSIGN_OR_RETURN(engine::StepResult result,
                   engine::Predict({.graph = std::move(graph),
                                    .models = models,
                                    .overheads = overheads.value.get()},
                                   times.options));
  whatif::Case made =
      whatif::CaseOfResult(std::move(result), machine, times.options);
  made.overheads = overheads.name;
  return made;
}

// Stalls do not count as overheads (timeline::PlanOptions::keep_stalls): what
// lasts a millisecond and several times as long as the median of its kind.
void DropStalls(learn::OverheadSamples& samples) {
  constexpr double kStallUs = 1e3;
  constexpr double kStallTimes = 3;
  for (learn::OverheadSamples::ByName& part : samples.parts) {
    for (auto& [name, of_name] : part) {
      std::vector<double> times;
      for (const learn::OverheadSample& sample : of_name) {
        times.push_back(sample.us);
      }
      const double most =
          std::max(kStallUs, kStallTimes * Quantile(std::move(times), 0.5));
      std::erase_if(of_name, [&](const learn::OverheadSample& sample) {
        return sample.us > most;
      });
    }
  }
}

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
  DropStalls(samples);
  return cost::OverheadTable(
      learn::FitOverheads(samples, {.name = std::string(kOwnOverheads)}));
}

// Steps of one job differ by so much where the recording has too few to show
// it, as the standard deviation of the logarithm: the distances of the recorded
// training runs at hand to their medians, but for stalls of data loaders.
constexpr double kStepSpread = 0.03;
// So many distances between steps show how far they differ.
constexpr size_t kEnoughDistances = 3;
constexpr double kDecileDeviations = 1.2816;  // Of a normal distribution.

// How far a step of the recording is from the median one, as factors.
std::pair<double, double> SpreadOfSteps(const Input& input) {
  std::vector<double> lengths;
  for (const auto& [step, distance] :
       trace::StepDistances(input.loaded.ranks)) {
    lengths.push_back(static_cast<double>(distance.count()));
  }
  const double usual = std::exp(kDecileDeviations * kStepSpread);
  if (lengths.size() < kEnoughDistances) {
    return {1 / usual, usual};
  }
  const double median = Quantile(lengths, 0.5);
  return {std::min(Quantile(lengths, 0.1) / median, 1 / usual),
          std::max(Quantile(lengths, 0.9) / median, usual)};
}

// What the steps differ by and what is not certain of the step itself, which
// have nothing to do with each other.
void WidenInterval(const Input& input, whatif::Case& subject) {
  const auto [low, high] = SpreadOfSteps(input);
  const engine::StepInterval own = whatif::IntervalOf(subject);
  const auto step = static_cast<double>(subject.result.step.count());
  const auto edge = [&](Duration at, double factor) {
    const double ratio = static_cast<double>(at.count()) / step;
    return std::hypot(std::log(ratio), std::log(factor));
  };
  if (step <= 0 || own.p10 <= Duration{}) {
    return;
  }
  subject.result.interval = {
      .p10 = Duration(std::llround(step * std::exp(-edge(own.p10, low)))),
      .p50 = subject.result.step,
      .p90 = Duration(std::llround(step * std::exp(edge(own.p90, high))))};
}

}  // namespace

Result<whatif::Case> RecordedCase(const TraceInput& trace,
                                  const scenario::Scenario& scenario,
                                  scenario::Resolver& resolver,
                                  const Options& options) {
  const Result<std::string> recorded = RecordedGpu(*trace.graph);
  ASSIGN_OR_RETURN(
      engine::Machine machine,
      scenario::MachineOfSteps(recorded ? *recorded : scenario.gpu,
                               scenario.platform, trace.graph->data()));
  ASSIGN_OR_RETURN(const scenario::Job times, scenario::ResolveTimes(scenario));
  std::optional<cost::OverheadTable> own;
  Named<cost::OverheadTable> found;
  engine::SteadyOptions steady;
  if (scenario.overheads == kOwnOverheads) {
    options.ReportProgress("fitting the trace's own overheads");
    ASSIGN_OR_RETURN(own, OwnOverheads(trace.input));
    steady.overheads = &*own;
    steady.own = true;
  } else if (!scenario.overheads.empty() &&
             scenario.overheads != kMeasuredOverheads) {
    ASSIGN_OR_RETURN(found, resolver.Overheads(scenario.overheads));
    steady.overheads = found.value.get();
  }
  ASSIGN_OR_RETURN(whatif::Case before,
                   whatif::CaseOfTrace(trace.graph, std::move(machine),
                                       times.options, steady));
  WidenInterval(trace.input, before);
  before.overheads = scenario.overheads.empty()
                         ? std::string(kMeasuredOverheads)
                         : scenario.overheads;
  before.recorded = trace.distance;
  if (!recorded || scenario.gpu.empty()) {
    return before;
  }
  ASSIGN_OR_RETURN(const Named<hw::Device> gpu,
                   scenario::FindGpu(scenario.gpu));
  RETURN_IF_ERROR(scenario::CheckRecordedGpu(*gpu));
  if (gpu.name == before.machine.device.name) {
    return before;
  }
  ASSIGN_OR_RETURN(const whatif::Change change,
                   whatif::ParseChange("gpu=" + scenario.gpu));
  ASSIGN_OR_RETURN(whatif::Changed changed,
                   whatif::Apply(before, {&change, 1}, resolver));
  changed.after.notes = std::move(changed.notes);
  changed.after.recorded.reset();
  return std::move(changed.after);
}

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
  ASSIGN_OR_RETURN(const TraceInput trace, LoadTrace(scenario, options));
  if (trace.graph->is_timed()) {
    return RecordedCase(trace, scenario, resolver, options);
  }
  const Result<std::string> recorded = RecordedGpu(*trace.graph);
  ASSIGN_OR_RETURN(
      engine::Machine machine,
      scenario::MachineOfSteps(
          !scenario.gpu.empty() ? scenario.gpu : recorded.value_or(""),
          scenario.platform, trace.graph->data()));
  if (machine.gpu.empty()) {
    return tl::unexpected(recorded.error());
  }
  return PredictGraph(trace.graph, machine, scenario, resolver);
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
