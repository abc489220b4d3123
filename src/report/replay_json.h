// A replay for programs.
#ifndef STEPCAST_REPORT_REPLAY_JSON_H_
#define STEPCAST_REPORT_REPLAY_JSON_H_

#include <string>
#include <string_view>

#include "report/replay_report.h"

namespace stepcast::report {

/// One JSON object; docs/cli.md lists the keys. Times are microseconds.
std::string ReplayJson(const ReplayReport& report, std::string_view version);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_REPLAY_JSON_H_
