// A workload as it is, or as it would be: its step with all that is known of
// it.
#ifndef STEPCAST_WHATIF_CASE_H_
#define STEPCAST_WHATIF_CASE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cost/model_store.h"
#include "engine/run/predict.h"
#include "engine/run/predict_model.h"
#include "engine/run/steady_step.h"
#include "ir/graph.h"
#include "scenario/resolve.h"
#include "sim/simulate.h"
#include "whatif/change.h"
#include "whatif/step_editor.h"
#include "whatif/step_times.h"
#include "whatif/task_filler.h"

namespace stepcast::whatif {

struct Case {
  engine::StepResult result;
  StepTimes times;  // That it was simulated with.
  engine::Machine machine;
  /// Of models: what was asked, and what else was found.
  std::optional<scenario::Job> job;
  std::shared_ptr<const engine::ModelPrediction> model;
  engine::PredictOptions options;
  std::string overheads;           // Of recorded graphs: the set's name.
  std::vector<std::string> notes;  // How it was carried to another GPU.
  /// Of a recorded step: how far it is from the end of the step before to its
  /// own; not given for the first.
  std::optional<Duration> recorded;
};

/// A model, predicted; the job is bound.
Result<Case> CaseOfModel(scenario::Job job, scenario::Resolver& resolver);

/// A recorded step as it would repeat, with its own durations or with those of
/// another host.
Result<Case> CaseOfTrace(std::shared_ptr<const ir::Graph> graph,
                         engine::Machine machine,
                         const engine::PredictOptions& options,
                         const engine::SteadyOptions& steady = {});

/// A step that was predicted from its graph.
Case CaseOfResult(engine::StepResult result, engine::Machine machine,
                  const engine::PredictOptions& options);

// Many changes of one step, one after another: their step times alone.

/// Keeps what changes have in common: the tasks, their times without changes,
/// and memory. Nothing is lowered, accounted for or drawn.
class StepBatch {
 public:
  /// `before` outlives it.
  explicit StepBatch(const Case& before);

  /// The step under changes, all of which are of the step. Fails as Apply does.
  Result<Duration> StepWith(std::span<const Change> changes,
                            cost::ModelStore& store);

 private:
  const Case& before_;
  TaskFiller filler_;
  StepTimes times_;
  sim::Schedule schedule_;
};

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_CASE_H_
