// Predicts a step of a model that is built in or in a file.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/options.h"
#include "cli/predict_command.h"
#include "engine/place_tables.h"
#include "engine/predictor.h"
#include "plan/load_deal.h"
#include "report/model_report.h"
#include "whatif/step_times.h"
#include "workload/model_files.h"
#include "workload/settings.h"

namespace stepcast::cli {
namespace {

Result<workload::Settings> ReadSettings(const PredictCommand& command) {
  workload::Settings settings;
  ASSIGN_OR_RETURN(const auto batch,
                   ParseNumber("--batch", command.scenario.batch, 1));
  settings.batch = batch.value_or(0);
  if (!command.scenario.mode.empty()) {
    ASSIGN_OR_RETURN(settings.mode, workload::ParseMode(command.scenario.mode));
  }
  if (!command.scenario.precision.empty()) {
    ASSIGN_OR_RETURN(settings.precision,
                     workload::ParsePrecision(command.scenario.precision));
  }
  if (!command.scenario.cuda_graphs.empty()) {
    ASSIGN_OR_RETURN(settings.cuda_graphs,
                     workload::ParseCudaGraphs(command.scenario.cuda_graphs));
  }
  if (!command.scenario.impl.empty()) {
    settings.impl = command.scenario.impl;
  }
  settings.pinned = !command.scenario.pageable;
  ASSIGN_OR_RETURN(const auto seed,
                   ParseNumber("--seed", command.scenario.seed, 0));
  settings.seed = static_cast<uint64_t>(seed.value_or(1));
  return settings;
}

}  // namespace

Result<engine::Request> ReadRequest(const PredictCommand& command) {
  engine::Request request;
  ASSIGN_OR_RETURN(request.model,
                   workload::FindModel(command.input.files.empty()
                                           ? std::string(kDefaultModel)
                                           : command.input.files.front()));
  if (!command.scenario.placement.empty()) {
    RETURN_IF_ERROR(engine::SetPlacement(command.scenario.placement, request));
  }
  ASSIGN_OR_RETURN(request.settings, ReadSettings(command));
  ASSIGN_OR_RETURN(const auto gpus,
                   ParseNumber("--gpus", command.scenario.gpus, 1));
  ASSIGN_OR_RETURN(const auto nodes,
                   ParseNumber("--nodes", command.scenario.nodes, 1));
  constexpr int64_t kMostGpus = 1'048'576;
  request.gpus = static_cast<int>(std::min(gpus.value_or(1), kMostGpus));
  request.nodes = static_cast<int>(std::min(nodes.value_or(1), kMostGpus));
  if (command.scenario.server.empty() && request.nodes > request.gpus) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} nodes with {} GPU{} over all of them; expected "
                            "at least one per node, as --gpus {}",
                            request.nodes, request.gpus,
                            request.gpus == 1 ? "" : "s", request.nodes * 8));
  }
  request.platform = command.scenario.platform;
  request.server = command.scenario.server;
  request.runtime = command.scenario.runtime;
  if (request.server.empty() && !request.runtime.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "--runtime is of servers without GPUs; expected --server, too");
  }
  if (!request.server.empty() && !command.scenario.gpu.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "--gpu and --server; expected one of them");
  }
  request.gpu = command.scenario.gpu.empty() &&
                        command.scenario.platform.empty() &&
                        command.scenario.server.empty()
                    ? std::string(kDefaultGpu)
                    : command.scenario.gpu;
  request.overheads = command.scenario.overheads;
  if (!command.scenario.plan.empty()) {
    RETURN_IF_ERROR(plan::LoadDeal(command.scenario.plan, request));
  }
  return request;
}

Result<engine::PredictOptions> ReadModelOptions(const PredictCommand& command) {
  engine::PredictOptions options;
  ASSIGN_OR_RETURN(const auto samples,
                   ParseNumber("--samples", command.scenario.samples, 0));
  ASSIGN_OR_RETURN(const auto seed,
                   ParseNumber("--seed", command.scenario.seed, 0));
  options.samples = static_cast<uint32_t>(samples.value_or(kDefaultSamples));
  options.seed = static_cast<uint64_t>(seed.value_or(1));
  options.profiled = command.scenario.profiled;
  return options;
}

Result<report::PredictionReport> PredictModel(const PredictCommand& command) {
  const bool named = !command.input.files.empty();
  ASSIGN_OR_RETURN(const engine::Request request, ReadRequest(command));
  ASSIGN_OR_RETURN(const engine::PredictOptions options,
                   ReadModelOptions(command));
  engine::Predictor predictor = PredictorOf(command);
  ASSIGN_OR_RETURN(const engine::ModelPrediction predicted,
                   predictor.Predict(request, options));
  report::PredictionReport report =
      report::ReportModel(request, predicted, predicted.prediction);
  if (command.output.json) {
    report.ops = report::SumOps(
        predicted.graph, predicted.prediction,
        whatif::TimesOf(predicted.graph.data(), predicted.prediction, {}));
  }
  ASSIGN_OR_RETURN(const cost::OverheadTable* overheads,
                   predictor.Overheads(predicted.overheads));
  RETURN_IF_ERROR(AddAlgorithms(command, predicted.graph, predicted.prediction,
                                overheads, options.profiled, report));
  const bool placed = !command.scenario.gpu.empty() ||
                      !command.scenario.platform.empty() ||
                      !command.scenario.server.empty();
  if (!named || !placed) {
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
