// Graphs of single ranks put together to one of a job.
#ifndef STEPCAST_IR_JOIN_RANKS_H_
#define STEPCAST_IR_JOIN_RANKS_H_

#include <cstdint>
#include <span>

#include "base/result.h"
#include "ir/graph.h"

namespace stepcast::ir {

/// One rank of the job, in a graph of its own, and its number there.
struct RankGraph {
  const Graph* graph = nullptr;
  int64_t number = 0;
};

/// The n-th collective that a rank has on a stream is one with the n-th that
/// the others have on the stream of the same number; messages between two are
/// left alone. Fails where their kinds or how many there are differ.
Result<Graph> JoinRanks(std::span<const RankGraph> ranks);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_JOIN_RANKS_H_
