// The reports of how well kernels, collectives and steps are predicted.
#ifndef STEPCAST_VIEW_REPORTS_ACCURACY_DOC_H_
#define STEPCAST_VIEW_REPORTS_ACCURACY_DOC_H_

#include "learn/fit/fit_collectives.h"
#include "learn/fit/leave_out.h"
#include "learn/judge/collective_accuracy.h"
#include "learn/judge/kernel_accuracy.h"
#include "learn/judge/step_accuracy.h"
#include "learn/measured/kernel_rows.h"
#include "view/doc.h"

namespace stepcast::view {

/// Kernels, collectives or both: whatever the data holds.
Doc KernelAccuracyDoc(const learn::KernelAccuracy& accuracy,
                      const learn::KernelRows& rows,
                      const learn::CollectiveAccuracy& collectives);
Doc CollectiveAccuracyDoc(const learn::CollectiveAccuracy& accuracy);

/// GPUs and systems that are left out of every fit.
Doc LeaveOutDoc(const learn::LeaveOutTable& table);
Doc CollectiveLeaveOutDoc(const learn::CollectiveLeaveOut& table);

/// Groups, the worst rows, and why rows are skipped.
Doc StepAccuracyDoc(const learn::StepAccuracy& accuracy);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_ACCURACY_DOC_H_
