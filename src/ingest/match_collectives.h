// Finds which works on different ranks are one collective.
#ifndef STEPCAST_INGEST_MATCH_COLLECTIVES_H_
#define STEPCAST_INGEST_MATCH_COLLECTIVES_H_

#include <span>

#include "base/diagnostics.h"
#include "ingest/profiler_graph.h"
#include "ir/graph_builder.h"

namespace stepcast::ingest {

/// Every rank launches its collectives in the same order, so the i-th of one
/// rank meets the i-th of the others. Matching stops where the kinds disagree;
/// the rest is counted. Nothing to do for a single rank.
void MatchCollectives(std::span<const AddedRank> ranks,
                      ir::GraphBuilder& builder, Diagnostics& diagnostics);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_MATCH_COLLECTIVES_H_
