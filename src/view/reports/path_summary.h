// A critical path in short: how much of it was spent on what, and on which
// rank.
#ifndef STEPCAST_VIEW_REPORTS_PATH_SUMMARY_H_
#define STEPCAST_VIEW_REPORTS_PATH_SUMMARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "engine/explain/path_parts.h"
#include "engine/explain/step_result.h"
#include "ir/graph.h"

namespace stepcast::view {

/// So many things are kept of a path: the rest is too small to matter.
inline constexpr size_t kMostOfPath = 40;

/// By engine::PathKind.
using PathKinds = std::array<Duration, engine::kPathKindCount>;

/// All stretches with the same thing to tell, together.
struct PathShare {
  engine::PathKind kind = engine::PathKind::kHost;
  std::string what{};  // Reads after a time: "in aten::linear".
  Duration time{};
  size_t times = 0;  // Those of some length.
};

/// The path stays on a rank until a collective in which that rank waited for
/// another: then the path goes on there, towards the start.
struct PathHop {
  int64_t rank = 0;
  Duration begin{};
  Duration end{};
  PathKinds kinds{};
  std::vector<PathShare> most{};  // The longest first; a few.
  /// That it ended with: the next hop's rank waited in it. Not for the last.
  std::optional<ir::CollectiveId> collective{};
};

/// What PathKind::kWait is made of.
struct PathWaits {
  Duration step_start{};    // The rank had not begun its step.
  Duration thread_start{};  // Nor one of its threads.
  Duration step_before{};   // Activity of the step before was still running.
};

struct PathSummary {
  Duration length{};
  PathKinds kinds{};
  PathWaits waits{};
  std::vector<PathHop> hops{};       // From the start on.
  std::vector<PathShare> longest{};  // Over all ranks, the longest first.
};

PathSummary SummarizePath(const engine::StepResult& result,
                          std::span<const engine::PathPart> parts);

/// "host 71.2 %, kernel 20.1 %, ...": the largest first, without those below
/// half a percent.
std::string PathKindsText(const PathKinds& kinds, Duration length);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_PATH_SUMMARY_H_
