// Errors of kernel models, for people and for programs.
#ifndef STEPCAST_REPORT_KERNEL_ACCURACY_TEXT_H_
#define STEPCAST_REPORT_KERNEL_ACCURACY_TEXT_H_

#include <string>
#include <string_view>

#include "measurements/kernel_rows.h"
#include "report/collective_accuracy.h"
#include "report/kernel_accuracy.h"

namespace stepcast::report {

std::string KernelAccuracyText(const KernelAccuracy& accuracy,
                               const measurements::KernelRows& rows);
/// `collectives` is written beside the groups, unless it is null.
std::string KernelAccuracyJson(const KernelAccuracy& accuracy,
                               const measurements::KernelRows& rows,
                               std::string_view version,
                               const CollectiveAccuracy* collectives);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_KERNEL_ACCURACY_TEXT_H_
