// A simulated step as a timeline: measured, simulated and what decided its
// length.
#ifndef STEPCAST_REPORT_TIMELINE_H_
#define STEPCAST_REPORT_TIMELINE_H_

#include <cstdint>
#include <string>

#include "engine/step_result.h"

namespace stepcast::report {

/// Chrome JSON on one clock. A process with the critical path on a track of its
/// own, then one or two for every rank: as measured, if the graph has times,
/// and as simulated with top-level ops, calls and works. Arrows go from
/// launches to works. Of several repeats the last is shown; `number` is that of
/// the measured step.
std::string TimelineJson(const engine::StepResult& result, int64_t number = 0);

/// Two steps in one: both critical paths on tracks of a process, then a process
/// for every rank of either, both steps beginning at once.
std::string TimelineJson(const engine::StepResult& before,
                         const engine::StepResult& after);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_TIMELINE_H_
