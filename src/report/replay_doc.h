// The report of a replay.
#ifndef STEPCAST_REPORT_REPLAY_DOC_H_
#define STEPCAST_REPORT_REPLAY_DOC_H_

#include <string>

#include "engine/replay_job.h"
#include "view/doc.h"

namespace stepcast::report {

/// Of one step where the time went, who waited for whom, what decided its
/// length and what is unexplained; of all steps measured against simulated.
/// `name` is of the trace. The job must live as long as the document.
view::Doc ReplayDoc(const engine::ReplayedJob& job, const std::string& name);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_REPLAY_DOC_H_
