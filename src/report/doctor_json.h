// The doctor's report for programs.
#ifndef STEPCAST_REPORT_DOCTOR_JSON_H_
#define STEPCAST_REPORT_DOCTOR_JSON_H_

#include <string>
#include <string_view>

#include "report/doctor.h"

namespace stepcast::report {

/// One JSON object with everything the text says, for every rank; docs/cli.md
/// lists the keys. Times are microseconds, shares between 0 and 1.
std::string DoctorJson(const DoctorReport& report, std::string_view version);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_DOCTOR_JSON_H_
