// Segments of the host's time in which it did not work but waited, though the
// trace has no call that says so.
#ifndef STEPCAST_TIMELINE_SILENT_WAITS_H_
#define STEPCAST_TIMELINE_SILENT_WAITS_H_

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "timeline/host_plan.h"

namespace stepcast::timeline {

struct SilentWait {
  ir::ThreadId thread{};
  uint32_t segment = 0;
  /// The last activity of the rank to end in it: what it may have waited for.
  /// Invalid if it waited for the processes that load data.
  ir::ActivityId activity{};
};

/// The segments of a measured plan, by thread and segment, that last a
/// millisecond or more, either while the rank's device was busy almost all of
/// the time (waits for events that recorders leave out, copies of pageable
/// memory, allocations, launches into a full queue) or before data that other
/// processes load. No overhead of the host: they last as long as others make
/// them. Of a plan in its steady state also those that are waits already.
std::vector<SilentWait> FindSilentWaits(const ir::GraphData& data,
                                        const HostPlan& measured);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_SILENT_WAITS_H_
