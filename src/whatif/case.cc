#include "whatif/case.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "whatif/apply.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {

StepBatch::StepBatch(const Case& before)
    : before_(before),
      filler_(before.result.graph->data(), before.result.lowered,
              before.times) {}

Result<Duration> StepBatch::StepWith(std::span<const Change> changes,
                                     cost::ModelStore& store) {
  times_ = before_.times;  // Into memory that is there.
  StepEditor editor(before_.result, before_.machine, store, std::move(times_));
  Status edited;
  for (const Change* const change : InOrder(changes)) {
    CHECK(!OfRequest(before_, *change)) << change->text;
    edited = CheckApplies(before_, *change);
    if (edited) {
      edited = change->kind->edit(*change, editor);
    }
    if (!edited) {
      break;
    }
  }
  times_ = std::move(editor.times());
  RETURN_IF_ERROR(edited);
  const timeline::Lowered& lowered = before_.result.lowered;
  sim::SimulateWith(lowered.tasks, filler_.Fill(times_), schedule_);
  return LongestOf(SpansOf(lowered, times_, schedule_));
}

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
                         const engine::PredictOptions& options,
                         const engine::SteadyOptions& steady) {
  ASSIGN_OR_RETURN(engine::StepResult result,
                   engine::SteadyStep(std::move(graph), steady));
  Case made = CaseOfResult(std::move(result), std::move(machine), options);
  // What is measured is certain.
  made.options.host_spread =
      steady.overheads == nullptr ? 0 : options.host_spread;
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
