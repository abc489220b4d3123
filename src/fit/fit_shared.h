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

struct SharedFit {
  cost::Constants constants;
  cost::FormulaSpreads spreads;
};

/// Needs rows of at least three chips: fewer do not tell what they share.
Result<SharedFit> FitShared(const measurements::KernelRows& rows,
                            size_t threads);

/// constants.toml and spreads.toml.
std::vector<ProfileFile> FilesOf(const SharedFit& shared,
                                 const std::string& command);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_SHARED_H_
