// The ranks of one job side by side, for people.
#ifndef STEPCAST_REPORT_JOB_TEXT_H_
#define STEPCAST_REPORT_JOB_TEXT_H_

#include <string>

#include "report/doctor.h"

namespace stepcast::report {

/// What all ranks share, a row a rank, how execution traces were paired, and
/// the collectives matched across ranks.
std::string JobText(const DoctorReport& report);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_JOB_TEXT_H_
