// Loads a workload that changes are to be applied to.
#include <memory>
#include <utility>

#include "cli/trace_input.h"
#include "cli/whatif_command.h"
#include "cost/overheads/overhead_files.h"
#include "scenario/settings.h"

namespace stepcast::cli {
namespace {

// A step whose times are not known is predicted as those of models are.
Result<whatif::Case> PredictGraph(std::shared_ptr<const ir::Graph> graph,
                                  const whatif::Place& place,
                                  const PredictCommand& command,
                                  engine::Predictor& predictor) {
  ASSIGN_OR_RETURN(const engine::PredictOptions options,
                   ReadTraceOptions(command));
  ASSIGN_OR_RETURN(const cost::KernelModels* models,
                   predictor.Models(place.gpu));
  ASSIGN_OR_RETURN(
      const cost::OverheadTable* overheads,
      predictor.Overheads(command.scenario.overheads.empty()
                              ? cost::kSharedOverheads
                              : std::string_view(command.scenario.overheads)));
  ASSIGN_OR_RETURN(
      engine::StepResult result,
      engine::Predict(
          {.graph = std::move(graph), .models = models, .overheads = overheads},
          options));
  return whatif::CaseOfResult(std::move(result), place, options);
}

}  // namespace

Result<whatif::Case> LoadCase(const PredictCommand& command,
                              engine::Predictor& predictor) {
  RETURN_IF_ERROR(CheckOptions(command));
  if (scenario::SubjectOfModel(command.scenario) == scenario::Subject::kFleet ||
      !command.scenario.algorithm.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "trainers and algorithm are of `stepcast predict`; expected "
                "neither of them here");
  }
  if (IsModel(command.scenario.workload)) {
    ASSIGN_OR_RETURN(const scenario::Job job, ResolveModel(command));
    return whatif::CaseOfModel(job.request, job.options, predictor);
  }
  ASSIGN_OR_RETURN(TraceInput trace,
                   LoadTrace(InputOf(command), command.scenario.step));
  auto graph = std::make_shared<const ir::Graph>(std::move(trace.graph));
  const Result<std::string> recorded = RecordedGpu(*graph);
  whatif::Place place{.gpu = !command.scenario.gpu.empty()
                                 ? command.scenario.gpu
                                 : recorded.value_or(""),
                      .platform = command.scenario.platform,
                      .gpus = static_cast<int>(graph->data().ranks.size()),
                      .nodes = 1};
  if (graph->is_timed()) {
    ASSIGN_OR_RETURN(const engine::PredictOptions options,
                     ReadTraceOptions(command));
    return whatif::CaseOfTrace(std::move(graph), std::move(place), options);
  }
  if (place.gpu.empty()) {
    return tl::unexpected(recorded.error());
  }
  return PredictGraph(std::move(graph), place, command, predictor);
}

std::string NameOf(const PredictCommand& command) {
  return command.scenario.workload.empty() ? ""
                                           : command.scenario.workload.front();
}

}  // namespace stepcast::cli
