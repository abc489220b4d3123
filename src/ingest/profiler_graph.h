// Puts one rank's step of a profiler trace into a graph.
#ifndef STEPCAST_INGEST_PROFILER_GRAPH_H_
#define STEPCAST_INGEST_PROFILER_GRAPH_H_

#include <vector>

#include "base/diagnostics.h"
#include "ingest/classify_all.h"
#include "ingest/load.h"
#include "ingest/rules.h"
#include "ingest/step_window.h"
#include "ir/graph_builder.h"

namespace stepcast::ingest {

/// A work of a collective, in the order the rank launched them.
struct LaunchedCollective {
  ir::WorkId work{};
  ir::Collective shape{};
};

/// What the graph got from one rank.
struct AddedRank {
  ir::RankId rank{};
  std::vector<LaunchedCollective> collectives;
};

/// `zero` is the earliest start of the step over all ranks, on the epoch's
/// clock.
AddedRank AddProfilerRank(const RankTrace& rank, const Step& step,
                          Duration zero, const Rules& rules,
                          ir::GraphBuilder& builder, Diagnostics& diagnostics);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_PROFILER_GRAPH_H_
