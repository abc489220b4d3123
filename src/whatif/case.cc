#include "whatif/case.h"

#include <algorithm>
#include <utility>

#include "engine/run/replay.h"

namespace stepcast::whatif {

Result<Case> CaseOfModel(scenario::Job job, scenario::Resolver& resolver) {
  RETURN_IF_ERROR(resolver.Load(job.request.machine));
  ASSIGN_OR_RETURN(engine::ModelPrediction predicted,
                   engine::PredictModel(job.request, job.options));
  auto model =
      std::make_shared<const engine::ModelPrediction>(std::move(predicted));
  Case made = CaseOfResult(model->result, job.request.machine, job.options);
  made.options.system_spread = engine::kSystemSpread;
  made.job = std::move(job);
  made.model = std::move(model);
  return made;
}

Result<Case> CaseOfTrace(std::shared_ptr<const ir::Graph> graph,
                         engine::Machine machine,
                         const engine::PredictOptions& options) {
  ASSIGN_OR_RETURN(engine::Replay replay, engine::ReplayStep(std::move(graph)));
  Case made =
      CaseOfResult(std::move(replay.result), std::move(machine), options);
  // What is measured is certain.
  made.options.repeats = 1;
  made.options.host_spread = 0;
  made.options.system_spread = 0;
  return made;
}

Case CaseOfResult(engine::StepResult result, engine::Machine machine,
                  const engine::PredictOptions& options) {
  Case made;
  made.times = TimesOf(result, machine);
  made.result = std::move(result);
  made.machine = std::move(machine);
  made.options = options;
  return made;
}

}  // namespace stepcast::whatif
