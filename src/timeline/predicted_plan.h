// What the host does in a step, with its times from a table of overheads.
#ifndef STEPCAST_TIMELINE_PREDICTED_PLAN_H_
#define STEPCAST_TIMELINE_PREDICTED_PLAN_H_

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "cost/overheads/overhead_table.h"
#include "ir/graph.h"
#include "timeline/host_plan.h"

namespace stepcast::timeline {

struct PlanOptions {
  /// The step as the profiler shows it, with what it spends on events; else as
  /// it is without one.
  bool profiled = true;
  /// How much longer this host takes than the one of the table.
  double slowness = 1;
  bool steady = false;  // A recorded step as it repeats (SteadyPlan).
  /// The table is of the graph's own recording: a stall of a segment is then
  /// none of its overhead, and stays as it was measured.
  bool keep_stalls = false;
};

/// How the times of a plan were found.
struct OverheadCoverage {
  struct Share {
    size_t segments = 0;
    Duration time{};
  };
  std::array<Share, cost::kOverheadSourceCount> by_source{};
  /// Silent waits and stalls of a measured graph, left as they were.
  Share kept{};
  /// The time of what was not found by its own name, by "part name".
  std::map<std::string, Share> not_exact{};

  Share& operator[](cost::OverheadSource source) {
    return by_source[static_cast<size_t>(source)];
  }
  const Share& operator[](cost::OverheadSource source) const {
    return by_source[static_cast<size_t>(source)];
  }
};

/// The segments of the measured plan where the graph has times, else those its
/// order and phases imply: autograd's thread runs between the forward pass of
/// the main thread and its optimizer. Durations are means of the table, except
/// of silent waits (silent_waits.h), which stay. Adds to `coverage`.
HostPlan PredictedPlan(const ir::Graph& graph, const cost::OverheadTable& table,
                       const PlanOptions& options = {},
                       OverheadCoverage* coverage = nullptr);

/// The segments of a graph without times, all of no length.
HostPlan OrderedPlan(const ir::GraphData& data);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_PREDICTED_PLAN_H_
