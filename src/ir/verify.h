// The rules a graph must keep.
#ifndef STEPCAST_IR_VERIFY_H_
#define STEPCAST_IR_VERIFY_H_

#include "base/result.h"
#include "ir/graph.h"

namespace stepcast::ir {

/// The error names the first rule broken and the thing that breaks it:
///   - every id is in range;
///   - everything is in the order that GraphData describes; parents come
///     before their children, so there are no cycles;
///   - an op's parent and a call's op are on the same thread; a call's stream
///     and event and an activity's call belong to the same rank;
///   - only waits have an event, and it is a record;
///   - times are within kMaxTime, durations not negative;
///   - the tensors of the ops follow each other without gaps;
///   - shapes are distinct;
///   - a collective has at most one activity per rank, each a collective of its
///     kind, and they name each other;
///   - stream waits join activities of one rank on different streams, without a
///     cycle along streams; host waits join an activity and a call of one rank.
Status Verify(const GraphData& data);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_VERIFY_H_
