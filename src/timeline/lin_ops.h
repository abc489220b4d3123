// A step's graph as the list of ops that the papers' walk goes over.
#ifndef STEPCAST_TIMELINE_LIN_OPS_H_
#define STEPCAST_TIMELINE_LIN_OPS_H_

#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "ir/graph.h"
#include "timeline/lin_walk.h"

namespace stepcast::timeline {

/// The top-level ops of a rank, all threads in one line as the papers have it:
/// by start where the graph has times, else autograd's behind the main thread's
/// forward pass. `works` is how long each work takes.
std::vector<LinOp> LinOpsOf(const ir::GraphData& data, ir::RankId rank,
                            const IdVector<ir::WorkId, Duration>& works,
                            LinVariant variant);

/// Whether the papers have kernel models for the op; the kernels of others take
/// no time in their walk.
bool IsModelled(std::string_view op, LinVariant variant);

/// Whether the walk passes over the op: not even T1 is added.
bool IsPassedOver(std::string_view op, LinVariant variant);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_LIN_OPS_H_
