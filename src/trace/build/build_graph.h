// From loaded traces to the execution graphs of their steps.
#ifndef STEPCAST_TRACE_BUILD_BUILD_GRAPH_H_
#define STEPCAST_TRACE_BUILD_BUILD_GRAPH_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "ir/graph.h"
#include "trace/build/profiler_graph.h"
#include "trace/classify/rules.h"
#include "trace/read/load.h"

namespace stepcast::trace {

struct BuildOptions {
  /// The number of the step, as in ProfilerStep#n; without it, the step of
  /// median length (of execution traces, in ops).
  std::optional<int64_t> step;
};

/// One graph over all ranks: host threads with their ops, the calls that
/// matter, the device work with typed shapes, waits where recorded or inferred,
/// and collectives matched across ranks. A rank with only an execution trace
/// gets one activity for each op that would launch one, without times.
class GraphMaker {
 public:
  /// Reads what all steps share. Ranks and rules must live as long.
  GraphMaker(std::span<const RankTrace> ranks, const Rules& rules);
  GraphMaker(const GraphMaker&) = delete;
  GraphMaker& operator=(const GraphMaker&) = delete;
  ~GraphMaker();

  /// Several threads may make graphs at once.
  Result<ir::Graph> Make(const BuildOptions& options,
                         Diagnostics& diagnostics) const;

 private:
  std::span<const RankTrace> ranks_;
  const Rules& rules_;
  std::vector<ProfilerFacts> facts_;  // By rank; of profiler traces.
};

/// The graph of one step alone.
Result<ir::Graph> BuildGraph(std::span<const RankTrace> ranks,
                             const Rules& rules, const BuildOptions& options,
                             Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_BUILD_BUILD_GRAPH_H_
