// Timelines of simulated steps for HTML pages.
#ifndef STEPCAST_REPORT_HTML_TIMELINE_H_
#define STEPCAST_REPORT_HTML_TIMELINE_H_

#include <string_view>

#include "engine/step_result.h"
#include "html/timeline.h"

namespace stepcast::report {

/// What readers are told above a timeline.
inline constexpr std::string_view kTimelineText =
    "The critical path, then of each rank the ops and calls of its threads and "
    "the works of its streams. Dashed lines: where the step of the slowest "
    "rank begins and ends.";

/// The critical path, then every rank's threads (ops, calls) and streams. The
/// step of the slowest rank is marked: of several that run back to back, works
/// of the one before may come first.
html::Timeline StepTimeline(const engine::StepResult& result);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_HTML_TIMELINE_H_
