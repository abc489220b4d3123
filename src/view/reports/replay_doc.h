// The report of a replay.
#ifndef STEPCAST_VIEW_REPORTS_REPLAY_DOC_H_
#define STEPCAST_VIEW_REPORTS_REPLAY_DOC_H_

#include <string>

#include "engine/explain/slow_steps.h"
#include "engine/run/replay.h"
#include "view/doc.h"
#include "view/reports/rates_blocks.h"

namespace stepcast::view {

/// Of one step where the time went, who waited for whom, what decided its
/// length and what is unexplained; of all steps measured against simulated.
/// `name` is of the trace. The job must live as long as the document, `rates`
/// need not.
Doc ReplayDoc(const engine::ReplayedJob& job,
              const engine::StepStatistics& statistics, const std::string& name,
              const RatesOf& rates);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_REPLAY_DOC_H_
