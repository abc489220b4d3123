// Fits one model: chooses among the formula, the formula scaled, and trees of
// several sizes, and reports the error of the choice.
#ifndef STEPCAST_LEARN_FIT_FIT_MODEL_H_
#define STEPCAST_LEARN_FIT_FIT_MODEL_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "cost/constants.h"
#include "cost/fitted_model.h"
#include "cost/profile.h"
#include "learn/fit/fit_kernels.h"
#include "learn/fit/training_rows.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

// A model before anything is learned: what it answers for, between which
// features, and how far its formula is off.

/// Neither offset nor trees nor spread; the ranges are those of the fit part,
/// since beyond them nothing was learned.
cost::FittedModel UncorrectedModel(const RowGroup& group,
                                   const TrainingRows& rows);

/// What the formula misses, in log2, of each row that counts in the fit part.
std::vector<double> FitResiduals(const TrainingRows& rows);

// Fits what all GPUs share: the constants of the formulas, and how far formulas
// are off on a GPU without data.

/// The constants of all formulas, fitted to all rows. Needs rows of at least
/// three chips, as does the next: fewer do not show what they share.
Result<cost::Constants> FitSharedConstants(const KernelRows& rows,
                                           size_t threads);

/// How far formulas are off on GPUs without data.
Result<cost::FormulaSpreads> FitSharedSpreads(const KernelRows& rows,
                                              size_t threads);

/// constants.toml.
ProfileFile FileOf(const cost::Constants& constants,
                   const std::string& command);
/// spreads.toml.
ProfileFile FileOf(const cost::FormulaSpreads& spreads,
                   const std::string& command);

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
                      std::span<const double> kernel_us, Part part);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_FIT_MODEL_H_
