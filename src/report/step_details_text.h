// One replayed step in full, for people.
#ifndef STEPCAST_REPORT_STEP_DETAILS_TEXT_H_
#define STEPCAST_REPORT_STEP_DETAILS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "report/replay_report.h"

namespace stepcast::report {

/// "step 12", or "the step" if it has no number.
std::string StepText(const std::optional<int64_t>& step);

/// Its collectives, with why the last rank came late; empty if it has none.
std::string CollectiveText(const StepDetails& details);

/// The critical path: shares, who was waited for, the longest stretches.
std::string PathText(const StepDetails& details);

/// The time that nothing explains, the longest first.
std::string UnexplainedText(const StepDetails& details);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_STEP_DETAILS_TEXT_H_
