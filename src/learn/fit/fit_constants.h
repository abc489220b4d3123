// Fits the constants that the formulas of all GPUs share.
#ifndef STEPCAST_LEARN_FIT_FIT_CONSTANTS_H_
#define STEPCAST_LEARN_FIT_FIT_CONSTANTS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/constants.h"
#include "learn/fit/measured_gpu.h"

namespace stepcast::learn {

/// Constants that are fitted together, and the rows that tell them.
struct ConstantGroup {
  std::string_view family;
  std::string_view type;  // Of the rows; empty: all.
  std::vector<cost::Constant> constants;
};
/// The first is that of streams, which all others build on.
std::vector<ConstantGroup> ConstantGroups();

/// Whether measured rows can tell a constant at all.
bool IsFitted(const cost::ConstantInfo& info);

/// Whether a case belongs to a group's rows.
bool Informs(const RowCase& one, const ConstantGroup& group);

/// `start` with the constants of a group fitted to the fit rows of the GPUs:
/// the least geometric mean over the GPUs of their mean |log(observed /
/// measured)|, so that a tenth less error counts alike on a GPU that is easily
/// predicted and on one that throttles. A group without rows stays as it is.
cost::Constants FitGroup(const ConstantGroup& group,
                         std::span<const MeasuredGpu* const> gpus,
                         const cost::Constants& start);

/// All groups: first those of streams, which all kernels use, then the rest.
cost::Constants FitConstants(std::span<const MeasuredGpu* const> gpus,
                             const cost::Constants& start, size_t threads);

/// A value by its place in the range of its constant, 0 to 1, and back: by
/// logarithm where the range is above zero.
double PlaceInRange(const cost::ConstantInfo& info, double value);
double ValueAtPlace(const cost::ConstantInfo& info, double place);

/// The text of constants.toml: what differs from the program's own values.
std::string ConstantsText(const cost::Constants& constants,
                          std::string_view provenance);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_FIT_CONSTANTS_H_
