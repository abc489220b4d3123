// Predicted against published step times, as text, JSON and CSV.
#ifndef STEPCAST_REPORT_STEP_ACCURACY_TEXT_H_
#define STEPCAST_REPORT_STEP_ACCURACY_TEXT_H_

#include <string>
#include <string_view>

#include "report/step_accuracy.h"

namespace stepcast::report {

/// Groups, the worst rows, and why rows are skipped.
std::string StepAccuracyText(const StepAccuracy& accuracy);
std::string StepAccuracyJson(const StepAccuracy& accuracy,
                             std::string_view version);
/// A line a predicted row.
std::string StepAccuracyCsv(const StepAccuracy& accuracy);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_STEP_ACCURACY_TEXT_H_
