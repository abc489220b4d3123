// How far a fitted model is off on rows that it was not fitted to.
#ifndef STEPCAST_LEARN_FIT_CALIBRATION_H_
#define STEPCAST_LEARN_FIT_CALIBRATION_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/fitted_model.h"
#include "cost/profile.h"
#include "learn/fit/training_rows.h"

namespace stepcast::learn {

// How far formulas are off on GPUs without fits, from GPUs that were left out.

/// log2 of measured over estimated for the rows of one case on one GPU.
struct Misses {
  std::string family;
  std::string type;
  std::string chip;
  std::vector<double> nothing;   // Nothing measured.
  std::vector<double> ceilings;  // With the GPU's ceilings.
};

/// Where 80 % of a new chip's rows are expected, from how chips differ and how
/// the rows of a chip do, each chip counting alike. By "family-type", by
/// "family" and, for what fewer than two chips have, by "other".
cost::FormulaSpreads SpreadsOf(std::span<const Misses> misses);

/// The text of spreads.toml.
std::string SpreadsText(const cost::FormulaSpreads& spreads,
                        std::string_view provenance);

/// log2 of what the measured kernel took over an estimate of it.
double Residual(const TrainingRow& row, double kernel_us);

/// The kernels of all rows, in microseconds, by a model of the same recipe that
/// was fitted to the fit part of these.
using FitAgain =
    std::function<Result<std::vector<double>>(const TrainingRows&)>;

/// The range around the estimates `kernel_us` that has 80 % of the
/// measurements, from the validation rows. Where these are few, the model is
/// fitted again ten times, each time without a tenth of the shapes of the fit
/// part, and the errors on those rows count too (cross-conformal prediction,
/// Vovk 2015).
Result<cost::Spread> Calibrate(const TrainingRows& rows,
                               std::span<const double> kernel_us,
                               const FitAgain& fit_again);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_CALIBRATION_H_
