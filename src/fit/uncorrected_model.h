// A model before anything is learned: what it answers for, between which
// features, and how far its formula is off.
#ifndef STEPCAST_FIT_UNCORRECTED_MODEL_H_
#define STEPCAST_FIT_UNCORRECTED_MODEL_H_

#include <vector>

#include "cost/fitted_model.h"
#include "fit/training_rows.h"

namespace stepcast::fit {

/// Neither offset nor trees nor spread; the ranges are those of the fit part,
/// since beyond them nothing was learned.
cost::FittedModel UncorrectedModel(const RowGroup& group,
                                   const TrainingRows& rows);

/// What the formula misses, in log2, of each row that counts in the fit part.
std::vector<double> FitResiduals(const TrainingRows& rows);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_UNCORRECTED_MODEL_H_
