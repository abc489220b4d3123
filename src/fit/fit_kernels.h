// Turns measured kernel times into profiles, one a GPU.
#ifndef STEPCAST_FIT_FIT_KERNELS_H_
#define STEPCAST_FIT_FIT_KERNELS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "cost/constants.h"
#include "cost/profile.h"
#include "hw/device.h"
#include "measurements/kernel_rows.h"

namespace stepcast::fit {

/// How well one fitted model does on rows that nobody looked at.
struct FitSummary {
  std::string gpu;
  std::string family;
  std::string variant;
  std::string chosen;
  size_t fit_rows = 0;
  ErrorSummary formula;  // On the test part.
  ErrorSummary model;
};

struct FittedProfile {
  cost::Profile profile;
  std::vector<FitSummary> summaries;
  /// What is wrong with the rows, by family.
  std::vector<std::string> doubts;
  /// Families with too few rows for a model, with their number.
  std::vector<std::string> too_few;
};

/// Fits everything the rows of one GPU can tell. `command` goes into the
/// provenance. The device is the built-in one of the rows' name, unless it is
/// given. What few rows do not tell is taken from the profile of another GPU,
/// if there is a `base`: ceilings, and models to start from.
Result<FittedProfile> FitProfile(const measurements::KernelRows& rows,
                                 uint16_t gpu, const cost::Constants& constants,
                                 std::string command,
                                 const hw::Device* device = nullptr,
                                 const cost::Profile* base = nullptr);

/// A file of a profile: its path below the directory of profiles and its text.
struct ProfileFile {
  std::string path;
  std::string text;
};
std::vector<ProfileFile> FilesOf(const cost::Profile& profile,
                                 const std::string& command);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FIT_KERNELS_H_
