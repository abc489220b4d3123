// What somebody who fits models should know of the rows.
#ifndef STEPCAST_FIT_FIT_DOUBTS_H_
#define STEPCAST_FIT_FIT_DOUBTS_H_

#include <optional>
#include <string>

#include "fit/fit_kernels.h"
#include "fit/training_rows.h"

namespace stepcast::fit {

/// Rows of one shape that cannot all be right; nothing if they agree.
std::optional<std::string> DoubtAboutRepeats(const TrainingRows& rows);

/// A model that is far off rows it did not learn from; nothing if it is not,
/// or if there are too few to tell.
std::optional<std::string> DoubtAboutModel(const FitSummary& summary);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_DOUBTS_H_
