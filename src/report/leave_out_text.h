// How well GPUs without data are predicted, as a table and as JSON.
#ifndef STEPCAST_REPORT_LEAVE_OUT_TEXT_H_
#define STEPCAST_REPORT_LEAVE_OUT_TEXT_H_

#include <string>
#include <string_view>

#include "fit/leave_out.h"

namespace stepcast::report {

std::string LeaveOutText(const fit::LeaveOutTable& table);
std::string LeaveOutJson(const fit::LeaveOutTable& table,
                         std::string_view version);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_LEAVE_OUT_TEXT_H_
