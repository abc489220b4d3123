// Blocks of a replay: whose time its step is, and how all steps differ.
#ifndef STEPCAST_VIEW_REPORTS_ATTRIBUTION_BLOCKS_H_
#define STEPCAST_VIEW_REPORTS_ATTRIBUTION_BLOCKS_H_

#include "engine/explain/slow_steps.h"
#include "engine/explain/step_result.h"
#include "view/doc.h"

namespace stepcast::view {

/// The tree of the slowest rank's time, and its lines of code where recorded.
void AddAttribution(const engine::StepResult& result, Doc& doc);

/// How long the steps took, and the slow ones with why; nothing of one step.
void AddStepStatistics(const engine::StepStatistics& statistics, Doc& doc);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_ATTRIBUTION_BLOCKS_H_
