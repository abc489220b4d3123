// Puts one rank's execution trace into a graph.
#ifndef STEPCAST_INGEST_EXECUTION_GRAPH_H_
#define STEPCAST_INGEST_EXECUTION_GRAPH_H_

#include "ingest/load.h"
#include "ingest/profiler_graph.h"
#include "ingest/rules.h"
#include "ir/graph_builder.h"

namespace stepcast::ingest {

/// Ops and tensors as recorded. Device nodes that a linker has put in become
/// works with their times; if there are none, every op without child ops that
/// works on GPU tensors gets the works its kind would launch, without times.
/// Works stand in the order of their launches over all threads. Without a step
/// the whole trace is taken.
AddedRank AddExecutionRank(const RankTrace& rank, const ExecutionStep* step,
                           const Rules& rules, ir::GraphBuilder& builder);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_EXECUTION_GRAPH_H_
