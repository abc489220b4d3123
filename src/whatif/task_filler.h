// Edited times of activities and segments as those of the simulator's tasks.
#ifndef STEPCAST_WHATIF_TASK_FILLER_H_
#define STEPCAST_WHATIF_TASK_FILLER_H_

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "ir/graph.h"
#include "sim/simulate.h"
#include "timeline/lower.h"
#include "whatif/step_times.h"

namespace stepcast::whatif {

/// What the simulator takes.
sim::TaskTimes ToTaskTimes(const ir::GraphData& data,
                           const timeline::Lowered& lowered,
                           const StepTimes& times);

/// The same for many edits of one step: only tasks of activities and segments
/// that were edited are looked at. All that it is given outlives it.
class TaskFiller {
 public:
  /// `base` are the times that edits start from.
  TaskFiller(const ir::GraphData& data, const timeline::Lowered& lowered,
             const StepTimes& base);

  /// Holds until the next call.
  const sim::TaskTimes& Fill(const StepTimes& times);

 private:
  void IndexTasks();
  void FillEdited(const StepTimes& times);
  void Restore();

  const ir::GraphData& data_;
  const timeline::Lowered& lowered_;
  const StepTimes& base_;
  const sim::TaskTimes base_times_;  // Of the tasks.
  sim::TaskTimes task_times_;
  bool whole_ = false;  // All of task_times_ may differ from the base.
  std::vector<sim::TaskId> touched_;  // Otherwise these do.
  /// Tasks by key: the number of an activity, then of a segment, thread by
  /// thread.
  std::vector<uint32_t> first_task_;
  std::vector<sim::TaskId> tasks_;
  IdVector<ir::ThreadId, uint32_t> first_segment_;  // Keys.
};

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_TASK_FILLER_H_
