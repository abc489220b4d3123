// A simulated step as slices of its tracks: ops, calls and works, with when
// they ran.
#ifndef STEPCAST_REPORT_SIMULATED_SLICES_H_
#define STEPCAST_REPORT_SIMULATED_SLICES_H_

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cost/overheads/host_plan.h"
#include "engine/predict.h"
#include "engine/replay.h"
#include "ir/graph.h"
#include "lower/lower.h"
#include "lower/measured_times.h"
#include "sim/critical_path.h"
#include "sim/simulate.h"

namespace stepcast::report {

/// A step that was simulated; its parts live elsewhere.
struct SimulatedStep {
  const cost::HostPlan& plan;
  const lower::Lowered& lowered;
  const sim::Schedule& schedule;
  const std::vector<sim::PathStep>& critical_path;
  /// Why each work started when it was measured to; null: not measured.
  const IdVector<ir::WorkId, lower::StartCause>* causes = nullptr;

  explicit SimulatedStep(const engine::Replay& replay);
  explicit SimulatedStep(const engine::Prediction& prediction);

  /// The one that is shown.
  uint32_t last_repeat() const {
    return static_cast<uint32_t>(lowered.rank_ends.size()) - 1;
  }
};

/// The time that a timeline of the step starts at. A step of a trace: the first
/// measured time; one of several repeats: where its host begins.
Duration ZeroOf(const ir::Graph& graph, const SimulatedStep& step);

/// Takes the slices of the last repeat, with times as simulated. Those of one
/// thread or stream come in the order they start; a call comes before the op
/// around it.
class SliceSink {
 public:
  SliceSink() = default;
  SliceSink(const SliceSink&) = delete;
  SliceSink& operator=(const SliceSink&) = delete;
  virtual ~SliceSink() = default;

  /// A top-level op.
  virtual void Op(ir::OpId op, ir::ThreadId thread, Duration start,
                  Duration end) = 0;
  /// With what it waited for.
  virtual void Call(ir::CallId call, Duration start, Duration end) = 0;
  /// `call_start` is that of the call that launched it, if there is one.
  virtual void Work(ir::WorkId work, const sim::Placement& placement,
                    Duration call_start) = 0;
};

void WalkSlices(const ir::GraphData& data, const SimulatedStep& step,
                SliceSink& sink);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_SIMULATED_SLICES_H_
