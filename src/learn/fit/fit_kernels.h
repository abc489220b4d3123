// Turns measured kernel times into profiles, one a GPU.
#ifndef STEPCAST_LEARN_FIT_FIT_KERNELS_H_
#define STEPCAST_LEARN_FIT_FIT_KERNELS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "cost/constants.h"
#include "cost/fitted_model.h"
#include "cost/profile.h"
#include "hw/device.h"
#include "learn/fit/training_rows.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

// Fits the model of one family on a processor. Its formula is a GPU's and off
// by a factor, its rows are few: one recipe, without a choice.

/// The formula scaled and, with enough rows, corrected by trees; nothing with
/// fewer than a few rows. Fitted to the fit part; the spread is that of rows
/// held out.
Result<std::optional<cost::FittedModel>> FitCpuModel(const RowGroup& group,
                                                     const TrainingRows& rows);

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

/// Fits everything that can be inferred from the rows of one GPU. `command`
/// goes into the provenance. The device is the built-in one of the rows' name,
/// unless it is given. What cannot be inferred from few rows is taken from the
/// profile of another GPU, if there is a `base`: ceilings, and models to start
/// from.
Result<FittedProfile> FitProfile(const KernelRows& rows, uint16_t gpu,
                                 const cost::Constants& constants,
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

// What somebody who fits models should know of the rows.

/// Rows of one shape that cannot all be right; nothing if they agree.
std::optional<std::string> DoubtAboutRepeats(const TrainingRows& rows);

/// A model that is far off rows it did not learn from; nothing if it is not,
/// or if there are too few to tell.
std::optional<std::string> DoubtAboutModel(const FitSummary& summary);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_FIT_KERNELS_H_
