// The doctor's report for people.
#ifndef STEPCAST_REPORT_DOCTOR_TEXT_H_
#define STEPCAST_REPORT_DOCTOR_TEXT_H_

#include <string>

#include "report/doctor.h"

namespace stepcast::report {

/// The verdict first; then the ranks of one job as a table, or every rank in
/// full; what is odd, with advice, last. Every number has its unit, every
/// share says of what.
std::string DoctorText(const DoctorReport& report);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_DOCTOR_TEXT_H_
