// Timelines of simulated steps for HTML pages.
#ifndef STEPCAST_REPORT_HTML_TIMELINE_H_
#define STEPCAST_REPORT_HTML_TIMELINE_H_

#include <string>
#include <string_view>

#include "engine/account.h"
#include "engine/predict.h"
#include "ir/graph.h"
#include "report/simulated_slices.h"
#include "whatif/case.h"

namespace stepcast::report {

/// What readers are told above a timeline.
inline constexpr std::string_view kTimelineText =
    "The critical path, then of each rank the ops and calls of its threads and "
    "the works of its streams. Dashed lines: where the step of the slowest "
    "rank begins and ends.";

/// The critical path, then every rank's threads (ops, calls) and streams.
/// `span` is the step that is told, which is marked: of several that run back
/// to back, works of the one before may come first.
std::string StepTimeline(const ir::Graph& graph, const SimulatedStep& step,
                         engine::StepSpan span);

/// Of the slowest rank.
engine::StepSpan SpanOf(const engine::Prediction& prediction);

/// Those of two steps below each other, on one scale, that move together.
std::string LinkedTimelines(const whatif::Case& first,
                            std::string_view first_name,
                            const whatif::Case& second,
                            std::string_view second_name);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_HTML_TIMELINE_H_
