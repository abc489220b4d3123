// The doctor's report.
#ifndef STEPCAST_REPORT_DOCTOR_DOC_H_
#define STEPCAST_REPORT_DOCTOR_DOC_H_

#include "report/doctor.h"
#include "view/doc.h"

namespace stepcast::report {

/// The ranks of one job as tables, or every rank in full; what is odd, with
/// advice, last. Programs get every rank in full.
view::Doc DoctorDoc(const DoctorReport& report);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_DOCTOR_DOC_H_
