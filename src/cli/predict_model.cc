// Predicts a step of a model that is built in or in a file.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/predict_command.h"
#include "engine/predictor.h"
#include "workload/model_files.h"
#include "workload/placement.h"
#include "workload/settings.h"

namespace stepcast::cli {
namespace {

constexpr std::string_view kDefaultModel = "dlrm_mlperf";
constexpr std::string_view kDefaultGpu = "a100-sxm-80gb";

Result<workload::Settings> ReadSettings(const PredictCommand& command) {
  workload::Settings settings;
  ASSIGN_OR_RETURN(const auto batch, ParseNumber("--batch", command.batch, 1));
  settings.batch = batch.value_or(0);
  if (!command.mode.empty()) {
    ASSIGN_OR_RETURN(settings.mode, workload::ParseMode(command.mode));
  }
  if (!command.precision.empty()) {
    ASSIGN_OR_RETURN(settings.precision,
                     workload::ParsePrecision(command.precision));
  }
  if (!command.cuda_graphs.empty()) {
    ASSIGN_OR_RETURN(settings.cuda_graphs,
                     workload::ParseCudaGraphs(command.cuda_graphs));
  }
  if (!command.impl.empty()) {
    settings.impl = command.impl;
  }
  settings.pinned = !command.pageable;
  ASSIGN_OR_RETURN(const auto seed, ParseNumber("--seed", command.seed, 0));
  settings.seed = static_cast<uint64_t>(seed.value_or(1));
  return settings;
}

report::MemoryUse MemoryOf(const engine::ModelPrediction& predicted) {
  report::MemoryUse memory;
  memory.hbm_bytes = predicted.memory.total();
  memory.hbm_capacity_bytes = predicted.memory_capacity;
  memory.host_bytes = predicted.host_bytes;
  memory.host_capacity_bytes = predicted.host_capacity;
  for (const workload::MemoryPart& part : predicted.memory.parts) {
    memory.parts.emplace_back(part.name, part.bytes);
  }
  return memory;
}

std::string NoteOnFit(const engine::ModelPrediction& predicted,
                      workload::Settings settings) {
  settings.batch = predicted.batch;
  constexpr double kGiga = 1e9;
  const std::vector<std::string> ways = workload::WaysToFit(
      predicted.memory, predicted.memory_capacity, settings);
  return fmt::format(
      "{:.2f} GB too much for a GPU{}{}",
      (predicted.memory.total() - predicted.memory_capacity) / kGiga,
      ways.empty() ? "" : "; would fit with ", fmt::join(ways, ", or "));
}

}  // namespace

Result<report::PredictionReport> PredictModel(const PredictCommand& command) {
  engine::Request request;
  const bool named = !command.input.files.empty();
  ASSIGN_OR_RETURN(request.model,
                   workload::FindModel(named ? command.input.files.front()
                                             : std::string(kDefaultModel)));
  if (!command.placement.empty()) {
    RETURN_IF_ERROR(workload::PlaceTables(command.placement, request.model));
  }
  ASSIGN_OR_RETURN(request.settings, ReadSettings(command));
  ASSIGN_OR_RETURN(const auto gpus, ParseNumber("--gpus", command.gpus, 1));
  ASSIGN_OR_RETURN(const auto nodes, ParseNumber("--nodes", command.nodes, 1));
  constexpr int64_t kMostGpus = 1'048'576;
  request.gpus = static_cast<int>(std::min(gpus.value_or(1), kMostGpus));
  request.nodes = static_cast<int>(std::min(nodes.value_or(1), kMostGpus));
  request.platform = command.platform;
  request.gpu = command.gpu.empty() && command.platform.empty()
                    ? std::string(kDefaultGpu)
                    : command.gpu;
  request.overheads = command.overheads;
  ASSIGN_OR_RETURN(const auto samples,
                   ParseNumber("--samples", command.samples, 0));
  engine::PredictOptions options;
  options.samples = static_cast<uint32_t>(samples.value_or(kDefaultSamples));
  options.seed = request.settings.seed;
  options.profiled = command.profiled;
  engine::Predictor predictor(
      {command.profiles.begin(), command.profiles.end()});
  ASSIGN_OR_RETURN(const engine::ModelPrediction predicted,
                   predictor.Predict(request, options));
  report::PredictionReport report = report::ReportPrediction(
      predicted.graph, predicted.prediction,
      {.workload = request.model.name,
       .platform = predicted.platform,
       .gpu = predicted.gpu,
       .num_gpus = request.gpus,
       .batch_per_gpu = request.settings.batch > 0 ? request.settings.batch
                                                   : request.model.batch,
       .precision = std::string(workload::Name(request.settings.precision)),
       .mode = std::string(workload::Name(request.settings.mode)),
       .impl = request.settings.impl,
       .overheads = predicted.overheads,
       .window = "steady step"});
  report.memory = MemoryOf(predicted);
  if (!report.memory->fits()) {
    report.notes.push_back(NoteOnFit(predicted, request.settings));
  }
  ASSIGN_OR_RETURN(const cost::OverheadTable* overheads,
                   predictor.Overheads(predicted.overheads));
  RETURN_IF_ERROR(AddAlgorithms(command, predicted.graph, predicted.prediction,
                                overheads, options.profiled, report));
  if (!named || (command.gpu.empty() && command.platform.empty())) {
    report.notes.push_back(fmt::format(
        "{}; name others with a workload and --gpu",
        named ? fmt::format("no GPU was named, so this is {}", predicted.gpu)
              : fmt::format("nothing was named, so this is {} on {}",
                            request.model.name, predicted.gpu)));
  }
  RETURN_IF_ERROR(
      WritePictures(command, predicted.graph, predicted.prediction, report));
  return report;
}

}  // namespace stepcast::cli
