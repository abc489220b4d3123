// Writes one rank of an execution graph as a Chakra trace.
#ifndef STEPCAST_INGEST_CHAKRA_WRITE_CHAKRA_H_
#define STEPCAST_INGEST_CHAKRA_WRITE_CHAKRA_H_

#include <string>

#include "base/result.h"
#include "ir/graph.h"

namespace stepcast::ingest {

/// The bytes of an .et file: a node for each op and each work of `rank`.
///
///   op    control dependency: the op around it
///         data dependencies:  the op before it on the thread; works that the
///                             host waited for before it
///   work  control dependency: the op that launched it
///         data dependencies:  the work before it on the stream; works on
///                             other streams that it waits for
///
/// Times are in microseconds as Chakra wants them, those of ops without the ops
/// in them, and exact in the attributes start_time_nanos and duration_nanos,
/// which ReadChakra prefers. Calls of the device runtime have no place in the
/// format. Fails if the rank has neither ops nor works.
Result<std::string> WriteChakra(const ir::Graph& graph, ir::RankId rank);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_CHAKRA_WRITE_CHAKRA_H_
