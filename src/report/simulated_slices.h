// A simulated step as slices of its tracks: ops, calls and works, with when
// they ran.
#ifndef STEPCAST_REPORT_SIMULATED_SLICES_H_
#define STEPCAST_REPORT_SIMULATED_SLICES_H_

#include "base/units.h"
#include "engine/step_result.h"
#include "ir/graph.h"
#include "sim/simulate.h"

namespace stepcast::report {

/// The time that a timeline of the step starts at. A step of a trace: the first
/// measured time; one of several repeats: where its host begins.
Duration ZeroOf(const engine::StepResult& result);

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

void WalkSlices(const engine::StepResult& result, SliceSink& sink);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_SIMULATED_SLICES_H_
