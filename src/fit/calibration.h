// How far a fitted model is off on rows that it was not fitted to.
#ifndef STEPCAST_FIT_CALIBRATION_H_
#define STEPCAST_FIT_CALIBRATION_H_

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "cost/fitted_model.h"
#include "fit/training_rows.h"

namespace stepcast::fit {

/// log2 of what the measured kernel took over an estimate of it.
double Residual(const TrainingRow& row, double kernel_us);

/// The kernels of all rows, in microseconds, by a model of the same recipe that
/// was fitted to the fit part of these.
using FitAgain =
    std::function<Result<std::vector<double>>(const TrainingRows&)>;

/// Where 80 % of measurements lie about the estimates `kernel_us`, from the
/// validation rows. Where these are few, the model is fitted again ten times,
/// each time without a tenth of the shapes of the fit part, and what those rows
/// are off by counts too (cross-conformal prediction, Vovk 2015).
Result<cost::Spread> Calibrate(const TrainingRows& rows,
                               std::span<const double> kernel_us,
                               const FitAgain& fit_again);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_CALIBRATION_H_
