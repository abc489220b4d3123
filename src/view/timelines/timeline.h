// A simulated step as a timeline: measured, simulated and what decided its
// length.
#ifndef STEPCAST_VIEW_TIMELINES_TIMELINE_H_
#define STEPCAST_VIEW_TIMELINES_TIMELINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/explain/step_result.h"
#include "view/html/timeline.h"

namespace stepcast::view {

// Timelines of simulated steps for HTML pages.

/// The explanation above a timeline.
inline constexpr std::string_view kTimelineText =
    "The critical path, then for each rank the ops and calls of its threads "
    "and the kernels and copies of its streams. Dashed lines: where the step "
    "of the slowest rank begins and ends.";

/// The critical path, then every rank's threads (ops, calls) and streams. The
/// step of the slowest rank is marked: of several that run back to back,
/// kernels of the one before may come first.
html::Timeline StepTimeline(const engine::StepResult& result);

/// Chrome JSON on one clock. A process with the critical path on a track of its
/// own, then one or two for every rank: as measured, if the graph has times,
/// and as simulated with top-level ops, calls and activities. Arrows go from
/// launches to activities. Of several repeats the last is shown; `number` is
/// that of the measured step.
std::string TimelineJson(const engine::StepResult& result, int64_t number = 0);

/// Two steps in one: both critical paths on tracks of a process, then a process
/// for every rank of either, both steps beginning at once.
std::string TimelineJson(const engine::StepResult& before,
                         const engine::StepResult& after);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_TIMELINES_TIMELINE_H_
