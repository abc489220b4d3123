// Finds where the main thread hands the backward pass to autograd's thread and
// where it goes on after it.
#ifndef STEPCAST_TIMELINE_HANDOFF_H_
#define STEPCAST_TIMELINE_HANDOFF_H_

#include <vector>

#include "ir/graph.h"
#include "timeline/host_plan.h"
#include "timeline/timed_segments.h"

namespace stepcast::timeline {

/// Takes out of both threads' segments the time in which one only waits for the
/// other, and returns who waits for whom. Autograd's thread waits before each
/// burst of its ops: those between which the main thread did nothing but tasks
/// of the autograd engine. The main thread waits in gaps in which an item of
/// the burst ended.
std::vector<Handoff> SplitWaits(const ir::GraphData& data, ir::ThreadId main_id,
                                TimedThread& main, ir::ThreadId autograd_id,
                                TimedThread& autograd);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_HANDOFF_H_
