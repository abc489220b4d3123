// A recorded step as one of many: iterations back to back until the time
// between their ends settles.
#ifndef STEPCAST_ENGINE_RUN_STEADY_STEP_H_
#define STEPCAST_ENGINE_RUN_STEADY_STEP_H_

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/units.h"
#include "cost/overheads/overhead_table.h"
#include "engine/explain/step_result.h"
#include "ir/graph.h"

namespace stepcast::engine {

/// How far a rank's device ran after its host in the recording.
struct HostLead {
  int64_t rank = 0;
  /// What earlier steps had launched was done so long after the step's start;
  /// 0 if it was done before.
  Duration at_start{};
  /// What the step launched was done so long after the host's end of it;
  /// negative if before.
  Duration at_end{};
};

/// By rank.
std::vector<HostLead> HostLeads(const ir::GraphData& data);

struct SteadyOptions {
  /// Of the host's time; without one it is as it was measured.
  const cost::OverheadTable* overheads = nullptr;
  bool profiled = true;  // With the time that a profiler takes.
  bool own = false;      // The set was made of this recording.
};

/// The step of `graph`, which is timed, in its steady state. Kernels and copies
/// take what was measured, so do segments of the host that do not wait; ranks
/// start at once. Fails as ReplayStep does.
Result<StepResult> SteadyStep(std::shared_ptr<const ir::Graph> graph,
                              const SteadyOptions& options = {});

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_RUN_STEADY_STEP_H_
