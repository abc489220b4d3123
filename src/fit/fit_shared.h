// Fits what all GPUs share: the constants of the formulas, and how far formulas
// are off on a GPU without data.
#ifndef STEPCAST_FIT_FIT_SHARED_H_
#define STEPCAST_FIT_FIT_SHARED_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/constants.h"
#include "cost/profile.h"
#include "fit/fit_kernels.h"
#include "measurements/kernel_rows.h"

namespace stepcast::fit {

/// The constants of all formulas, fitted to all rows. Needs rows of at least
/// three chips, as does the next: fewer do not tell what they share.
Result<cost::Constants> FitSharedConstants(const measurements::KernelRows& rows,
                                           size_t threads);

/// How far formulas are off on GPUs without data.
Result<cost::FormulaSpreads> FitSharedSpreads(
    const measurements::KernelRows& rows, size_t threads);

/// constants.toml.
ProfileFile FileOf(const cost::Constants& constants,
                   const std::string& command);
/// spreads.toml.
ProfileFile FileOf(const cost::FormulaSpreads& spreads,
                   const std::string& command);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_SHARED_H_
