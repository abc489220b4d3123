// Predicts a step of a model that is built in or in a file.
#include <utility>

#include <fmt/format.h>

#include "cli/options.h"
#include "cli/predict_command.h"
#include "engine/predictor.h"
#include "report/model_report.h"
#include "scenario/resolve.h"

namespace stepcast::cli {

Result<scenario::Job> ResolveModel(const PredictCommand& command) {
  const scenario::Scenario& scenario = command.scenario;
  const bool on_gpus = !(scenario.gpu + scenario.platform).empty();
  const bool servers =
      !(scenario.server + scenario.sparse_server + scenario.sparse_servers)
           .empty();
  if (on_gpus && servers && scenario.trainers.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "both servers and a GPU or platform; expected one of them, or "
                "a study, which has servers that hold the tables of GPUs");
  }
  ASSIGN_OR_RETURN(scenario::Job job, scenario::Resolve(scenario));
  RETURN_IF_ERROR(scenario::CheckFigures(scenario, job));
  return job;
}

Result<report::PredictionReport> PredictModel(const PredictCommand& command) {
  const bool named = !command.scenario.workload.empty();
  ASSIGN_OR_RETURN(const scenario::Job job, ResolveModel(command));
  const engine::Request& request = job.request;
  const engine::PredictOptions& options = job.options;
  engine::Predictor predictor = PredictorOf(command);
  ASSIGN_OR_RETURN(const engine::ModelPrediction predicted,
                   predictor.Predict(request, options));
  report::PredictionReport report =
      report::ReportModel(request, predicted, predicted.result);
  if (command.output.json) {
    report.ops = report::SumOps(predicted.result);
  }
  ASSIGN_OR_RETURN(const cost::OverheadTable* overheads,
                   predictor.Overheads(predicted.overheads));
  RETURN_IF_ERROR(AddAlgorithms(command, predicted.result, overheads,
                                options.profiled, report));
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
  RETURN_IF_ERROR(WritePictures(command, predicted.result, report));
  return report;
}

}  // namespace stepcast::cli
