// The reports of how well kernels, collectives and steps are predicted.
#ifndef STEPCAST_REPORT_ACCURACY_DOC_H_
#define STEPCAST_REPORT_ACCURACY_DOC_H_

#include "fit/fit_collectives.h"
#include "fit/leave_out.h"
#include "measurements/kernel_rows.h"
#include "report/collective_accuracy.h"
#include "report/kernel_accuracy.h"
#include "report/step_accuracy.h"
#include "view/doc.h"

namespace stepcast::report {

/// Kernels, collectives or both: whatever the data holds.
view::Doc KernelAccuracyDoc(const KernelAccuracy& accuracy,
                            const measurements::KernelRows& rows,
                            const CollectiveAccuracy& collectives);
view::Doc CollectiveAccuracyDoc(const CollectiveAccuracy& accuracy);

/// GPUs and systems that are left out of every fit.
view::Doc LeaveOutDoc(const fit::LeaveOutTable& table);
view::Doc CollectiveLeaveOutDoc(const fit::CollectiveLeaveOut& table);

/// Groups, the worst rows, and why rows are skipped.
view::Doc StepAccuracyDoc(const StepAccuracy& accuracy);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_ACCURACY_DOC_H_
