#include "whatif/case.h"

#include <algorithm>
#include <utility>

#include "engine/replay.h"

namespace stepcast::whatif {
Result<Case> CaseOfModel(const engine::Request& request,
                         const engine::PredictOptions& options,
                         engine::Predictor& predictor) {
  ASSIGN_OR_RETURN(engine::ModelPrediction predicted,
                   predictor.Predict(request, options));
  auto model =
      std::make_shared<const engine::ModelPrediction>(std::move(predicted));
  Case made = CaseOfResult(model->result,
                           {.gpu = model->gpu,
                            .platform = model->platform,
                            .gpus = model->ranks,
                            .nodes = request.nodes,
                            .server = request.server,
                            .runtime = model->runtime},
                           options);
  made.options.system_spread = engine::kSystemSpread;
  made.request = request;
  made.model = std::move(model);
  return made;
}

Result<Case> CaseOfTrace(std::shared_ptr<const ir::Graph> graph, Place place,
                         const engine::PredictOptions& options) {
  ASSIGN_OR_RETURN(engine::Replay replay, engine::ReplayStep(std::move(graph)));
  Case made = CaseOfResult(std::move(replay.result), std::move(place), options);
  // What is measured is certain.
  made.options.repeats = 1;
  made.options.host_spread = 0;
  made.options.system_spread = 0;
  return made;
}

Case CaseOfResult(engine::StepResult result, Place place,
                  const engine::PredictOptions& options) {
  Case made;
  made.times = TimesOf(result, place);
  made.result = std::move(result);
  made.place = std::move(place);
  made.options = options;
  return made;
}

}  // namespace stepcast::whatif
