// Reports as one HTML file each.
#ifndef STEPCAST_REPORT_HTML_REPORT_H_
#define STEPCAST_REPORT_HTML_REPORT_H_

#include <string>
#include <string_view>

#include "engine/predict.h"
#include "ir/graph.h"
#include "report/prediction.h"
#include "report/replay_report.h"

namespace stepcast::report {

std::string PredictionHtml(const PredictionReport& report,
                           const ir::Graph& graph,
                           const engine::Prediction& prediction,
                           std::string_view version);

/// The step that `job` tells in full; `name` is of the trace.
std::string ReplayHtml(const ReplayedJob& job, std::string_view name,
                       std::string_view version);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_HTML_REPORT_H_
