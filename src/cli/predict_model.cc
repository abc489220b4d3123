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

}  // namespace

Result<engine::Request> ReadRequest(const PredictCommand& command) {
  engine::Request request;
  ASSIGN_OR_RETURN(request.model,
                   workload::FindModel(command.input.files.empty()
                                           ? std::string(kDefaultModel)
                                           : command.input.files.front()));
  if (!command.placement.empty()) {
    RETURN_IF_ERROR(engine::SetPlacement(command.placement, request));
  }
  ASSIGN_OR_RETURN(request.settings, ReadSettings(command));
  ASSIGN_OR_RETURN(const auto gpus, ParseNumber("--gpus", command.gpus, 1));
  ASSIGN_OR_RETURN(const auto nodes, ParseNumber("--nodes", command.nodes, 1));
  constexpr int64_t kMostGpus = 1'048'576;
  request.gpus = static_cast<int>(std::min(gpus.value_or(1), kMostGpus));
  request.nodes = static_cast<int>(std::min(nodes.value_or(1), kMostGpus));
  request.platform = command.platform;
  request.server = command.server;
  request.runtime = command.runtime;
  if (request.server.empty() && !request.runtime.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "--runtime is of servers without GPUs; expected --server, too");
  }
  if (!request.server.empty() && !command.gpu.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "--gpu and --server; expected one of them");
  }
  request.gpu =
      command.gpu.empty() && command.platform.empty() && command.server.empty()
          ? std::string(kDefaultGpu)
          : command.gpu;
  request.overheads = command.overheads;
  if (!command.plan.empty()) {
    RETURN_IF_ERROR(plan::LoadDeal(command.plan, request));
  }
  return request;
}

Result<engine::PredictOptions> ReadModelOptions(const PredictCommand& command) {
  engine::PredictOptions options;
  ASSIGN_OR_RETURN(const auto samples,
                   ParseNumber("--samples", command.samples, 0));
  ASSIGN_OR_RETURN(const auto seed, ParseNumber("--seed", command.seed, 0));
  options.samples = static_cast<uint32_t>(samples.value_or(kDefaultSamples));
  options.seed = static_cast<uint64_t>(seed.value_or(1));
  options.profiled = command.profiled;
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
  if (command.json) {
    report.ops = report::SumOps(
        predicted.graph, predicted.prediction,
        whatif::TimesOf(predicted.graph.data(), predicted.prediction, {}));
  }
  ASSIGN_OR_RETURN(const cost::OverheadTable* overheads,
                   predictor.Overheads(predicted.overheads));
  RETURN_IF_ERROR(AddAlgorithms(command, predicted.graph, predicted.prediction,
                                overheads, options.profiled, report));
  const bool placed = !command.gpu.empty() || !command.platform.empty() ||
                      !command.server.empty();
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
