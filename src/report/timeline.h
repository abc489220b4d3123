// A simulated step as a timeline: measured, simulated and what decided its
// length.
#ifndef STEPCAST_REPORT_TIMELINE_H_
#define STEPCAST_REPORT_TIMELINE_H_

#include <cstdint>
#include <string>

#include "engine/predict.h"
#include "engine/replay.h"
#include "ir/graph.h"

namespace stepcast::report {

/// Chrome JSON on one clock. A process with the critical path on a track of its
/// own, then two for every rank: as measured, and as simulated with top-level
/// ops, calls and works. Arrows go from launches to works.
std::string ReplayTimeline(const ir::Graph& graph, const engine::Replay& replay,
                           int64_t step);

/// The same of a prediction: its last step, and what was measured if the graph
/// is of a trace.
std::string PredictionTimeline(const ir::Graph& graph,
                               const engine::Prediction& prediction);

/// Two predictions in one: both critical paths on tracks of a process, then a
/// process for every rank of either, both steps beginning at once.
std::string BeforeAfterTimeline(const ir::Graph& graph_before,
                                const engine::Prediction& before,
                                const ir::Graph& graph_after,
                                const engine::Prediction& after);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_TIMELINE_H_
