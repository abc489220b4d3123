// Finds where the main thread hands the backward pass to autograd's thread and
// where it goes on behind it.
#ifndef STEPCAST_COST_OVERHEADS_HAND_OVER_H_
#define STEPCAST_COST_OVERHEADS_HAND_OVER_H_

#include <vector>

#include "cost/overheads/host_plan.h"
#include "cost/overheads/timed_pieces.h"
#include "ir/graph.h"

namespace stepcast::cost {

/// Takes out of both threads' pieces the time in which one only waits for the
/// other, and returns who waits for whom. Autograd's thread waits before each
/// burst of its ops: those between which the main thread did nothing but tasks
/// of the autograd engine. The main thread waits in gaps in which an item of
/// the burst ended.
std::vector<HandOver> SplitWaits(const ir::GraphData& data,
                                 ir::ThreadId main_id, TimedThread& main,
                                 ir::ThreadId autograd_id,
                                 TimedThread& autograd);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_OVERHEADS_HAND_OVER_H_
