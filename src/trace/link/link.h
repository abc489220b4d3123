// Ties the events of a profiler trace together: ops nested in ops, runtime
// calls inside ops, device events to the calls that launched them, and steps.
#ifndef STEPCAST_TRACE_LINK_LINK_H_
#define STEPCAST_TRACE_LINK_LINK_H_

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "trace/classify/rules.h"
#include "trace/read/execution_trace.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {

// Which ops of an execution trace launch device work themselves.

/// Of every node: whether it is an op that does work which none of the ops
/// inside it does. An execution trace has no kernels, so the family of the op
/// decides: it does the work itself unless an op of its family is inside it.
///
///   aten::linear           no: addmm below multiplies
///     aten::addmm          yes
///   aten::cudnn_batch_norm yes
///     aten::empty          no: launches nothing
///
/// Whether its tensors are on a device is for the caller to see.
std::vector<bool> FindLaunchers(const ExecutionTrace& trace,
                                const Rules& rules);

// Finds the runtime call with a given correlation id.

/// Ids are given out one after another, so that a plain table usually serves;
/// sparse ones are sorted and searched.
class CorrelationMap {
 public:
  explicit CorrelationMap(const std::vector<RuntimeEvent>& calls);

  /// Position of the first call with this id, or kNoEvent.
  uint32_t Find(int64_t correlation) const;
  /// Calls whose id an earlier call had.
  int64_t duplicates() const { return duplicates_; }

 private:
  void FillTable(const std::vector<RuntimeEvent>& calls, uint64_t span);
  void FillSorted(const std::vector<RuntimeEvent>& calls);

  int64_t first_ = 0;
  std::vector<uint32_t> table_;
  std::vector<std::pair<int64_t, uint32_t>> sorted_;  // Id and call.
  int64_t duplicates_ = 0;
};

/// "Nothing", for positions in event lists.
inline constexpr uint32_t kNoEvent = std::numeric_limits<uint32_t>::max();

/// One iteration as the trace marks it.
struct Step {
  int64_t number = 0;          // Of ProfilerStep#n; otherwise counted from 0.
  uint32_t marker = kNoEvent;  // The host event that is or ends the step.
  uint32_t thread = 0;
  Duration start{};
  Duration duration{};
  Duration end() const { return start + duration; }
};

/// A profiler trace with its events in order and linked.
///
/// Host and runtime events are sorted by thread and start, host events in
/// pre-order (a parent before its children); device events by device, stream
/// and start. The other vectors have one entry per event.
struct LinkedTrace {
  ProfilerTrace trace;
  std::vector<uint32_t> parent{};   // Of a host event: the one around it.
  std::vector<uint32_t> call_op{};  // Of a runtime event: the innermost host
                                    // event around it.
  std::vector<uint32_t>
      activity_call{};  // Of a device event: its runtime event.
  std::vector<Step> steps{};
  bool steps_marked = false;  // By the profiler itself, not inferred.
};

/// Never fails: what cannot be linked stays kNoEvent and is counted.
LinkedTrace Link(ProfilerTrace trace, const Rules& rules,
                 Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_LINK_LINK_H_
