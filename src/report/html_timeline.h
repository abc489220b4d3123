// Timelines of simulated steps for HTML pages.
#ifndef STEPCAST_REPORT_HTML_TIMELINE_H_
#define STEPCAST_REPORT_HTML_TIMELINE_H_

#include <string_view>

#include "engine/account.h"
#include "engine/predict.h"
#include "html/timeline.h"
#include "ir/graph.h"
#include "report/simulated_slices.h"

namespace stepcast::report {

/// What readers are told above a timeline.
inline constexpr std::string_view kTimelineText =
    "The critical path, then of each rank the ops and calls of its threads and "
    "the works of its streams. Dashed lines: where the step of the slowest "
    "rank begins and ends.";

/// The critical path, then every rank's threads (ops, calls) and streams.
/// `span` is the step that is told, which is marked: of several that run back
/// to back, works of the one before may come first.
html::Timeline StepTimeline(const ir::Graph& graph, const SimulatedStep& step,
                            engine::StepSpan span);
/// The same of the slowest rank's step.
html::Timeline StepTimeline(const ir::Graph& graph,
                            const engine::Prediction& prediction);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_HTML_TIMELINE_H_
