// Ties the events of a profiler trace together: ops nested in ops, runtime
// calls inside ops, device events to the calls that launched them, and steps.
#ifndef STEPCAST_INGEST_LINK_H_
#define STEPCAST_INGEST_LINK_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/diagnostics.h"
#include "ingest/profiler_trace.h"
#include "ingest/rules.h"

namespace stepcast::ingest {

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
/// and start. The vectors beside them have one entry an event.
struct LinkedTrace {
  ProfilerTrace trace;
  std::vector<uint32_t> parent{};     // Of a host event: the one around it.
  std::vector<uint32_t> call_op{};    // Of a runtime event: the innermost host
                                      // event around it.
  std::vector<uint32_t> work_call{};  // Of a device event: its runtime event.
  std::vector<Step> steps{};
  bool steps_marked = false;  // By the profiler itself, not inferred.
};

/// Never fails: what cannot be linked stays kNoEvent and is counted.
LinkedTrace Link(ProfilerTrace trace, const Rules& rules,
                 Diagnostics& diagnostics);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_LINK_H_
