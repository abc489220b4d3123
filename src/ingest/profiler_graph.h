// Puts one rank's step of a profiler trace into a graph.
#ifndef STEPCAST_INGEST_PROFILER_GRAPH_H_
#define STEPCAST_INGEST_PROFILER_GRAPH_H_

#include <vector>

#include "base/diagnostics.h"
#include "ingest/classify_all.h"
#include "ingest/find_waits.h"
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

/// What all steps of a profiler trace share: found once, used for each of them.
struct ProfilerFacts {
  std::vector<ir::Phase> phases;  // By host event.
  std::vector<bool> autograd;     // By thread.
  SyncFacts syncs;
  Classification shapes;
};
ProfilerFacts ReadFacts(const RankTrace& rank, const Rules& rules);

/// A step, and the earliest start of it over all ranks on the epoch's clock.
struct PlacedStep {
  const Step& step;
  Duration zero{};
};

AddedRank AddProfilerRank(const RankTrace& rank, const PlacedStep& placed,
                          const Rules& rules, const ProfilerFacts& facts,
                          ir::GraphBuilder& builder, Diagnostics& diagnostics);

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_PROFILER_GRAPH_H_
