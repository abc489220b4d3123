// Many changes of one step, one after another: their step times alone.
#ifndef STEPCAST_WHATIF_STEP_BATCH_H_
#define STEPCAST_WHATIF_STEP_BATCH_H_

#include <span>

#include "base/result.h"
#include "base/units.h"
#include "cost/model_store.h"
#include "sim/simulate.h"
#include "whatif/case.h"
#include "whatif/change.h"
#include "whatif/step_times.h"
#include "whatif/task_filler.h"

namespace stepcast::whatif {

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

#endif  // STEPCAST_WHATIF_STEP_BATCH_H_
