// A replay for people.
#ifndef STEPCAST_REPORT_REPLAY_TEXT_H_
#define STEPCAST_REPORT_REPLAY_TEXT_H_

#include <string>

#include "report/replay_report.h"

namespace stepcast::report {

/// Measured against simulated first; then, of one step, where the time went,
/// who waited for whom, what decided its length, and what is unexplained.
std::string ReplayText(const ReplayReport& report);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_REPLAY_TEXT_H_
