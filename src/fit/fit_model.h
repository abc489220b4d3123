// Fits one model: chooses among the formula, the formula scaled, and trees of
// several sizes, and tells how far the choice is off.
#ifndef STEPCAST_FIT_FIT_MODEL_H_
#define STEPCAST_FIT_FIT_MODEL_H_

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "cost/fitted_model.h"
#include "fit/training_rows.h"

namespace stepcast::fit {

/// A model of one group, or nothing if it has too few rows to choose by. Trees
/// are fitted to the fit part; the choice is that of the validation part, and
/// so is the spread unless it is too small (see Calibrate). With the model of
/// another GPU as `base`, that one, the same scaled and trees on top of it
/// compete too, and where there are too few rows it is taken as it is.
Result<std::optional<cost::FittedModel>> FitModel(
    const RowGroup& group, const TrainingRows& rows,
    const cost::FittedModel* base = nullptr);

/// What a model says of the kernels of all rows, in microseconds.
std::vector<double> Predict(const cost::FittedModel& model,
                            const TrainingRows& rows);

/// The errors of the rows of one part that count.
ErrorSummary ErrorsOf(const TrainingRows& rows,
                      std::span<const double> kernel_us,
                      measurements::Part part);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_MODEL_H_
