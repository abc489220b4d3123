// Fits the model of one family on a processor. Its formula is a GPU's and off
// by a factor, its rows are few: one recipe, without a choice.
#ifndef STEPCAST_FIT_FIT_CPU_MODEL_H_
#define STEPCAST_FIT_FIT_CPU_MODEL_H_

#include <optional>

#include "base/result.h"
#include "cost/fitted_model.h"
#include "fit/training_rows.h"

namespace stepcast::fit {

/// The formula scaled and, with enough rows, corrected by trees; nothing with
/// fewer than a few rows. Fitted to the fit part; the spread is that of rows
/// held out.
Result<std::optional<cost::FittedModel>> FitCpuModel(const RowGroup& group,
                                                     const TrainingRows& rows);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_CPU_MODEL_H_
