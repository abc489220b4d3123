// The measured rows of one family, variant and GPU, as a fit sees them.
#ifndef STEPCAST_LEARN_FIT_TRAINING_ROWS_H_
#define STEPCAST_LEARN_FIT_TRAINING_ROWS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cost/fitted_model.h"
#include "cost/kernels/family.h"
#include "cost/machine.h"
#include "cost/profile.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

/// Rows that one model answers for.
struct RowGroup {
  const cost::Family* family = nullptr;
  cost::Variant variant = cost::Variant::kFull;
  std::vector<const KernelRow*> rows;
};

/// Sorts the rows of one GPU into groups. Rows of several kernels belong to
/// none; rows of operators from profiles only count where a group has no rows
/// of a benchmark.
std::vector<RowGroup> GroupRows(const KernelRows& rows, uint16_t gpu);

/// The position of a row in its run, from 0 to 1.
double PlaceOf(const KernelRow& row, std::span<const uint32_t> table_sizes);

/// How many rows each table has.
std::vector<uint32_t> TableSizes(const KernelRows& rows);

/// One measured row against its formula.
struct TrainingRow {
  const KernelRow* row = nullptr;
  Part part = Part::kFit;
  double base_us = 0;
  double lead_us = 0;  // 0 for times without the launch.
  double floor_us = 0;
  double log_time = 0;  // Natural logarithm of the measured time.
  double weight = 1;
  double trust = 1;  // The share of a correction that applies to it.
  /// The kernel is hidden behind its launch: it took this long at most.
  bool censored = false;
  /// Long enough to be judged by.
  bool counts = false;
};

struct TrainingRows {
  std::vector<TrainingRow> rows;
  std::vector<float> features;  // One row after another.
  size_t feature_count = 0;
  double fade_us = 0;    // As cost::FittedModel::fade_us.
  double most_log2 = 2;  // As in cost::FittedModel.
  /// Trees need so many rows: the better the formula, the more.
  size_t fewest_for_trees = 150;

  std::span<const float> FeaturesOf(size_t row) const {
    return std::span(features).subspan(row * feature_count, feature_count);
  }
};

/// Rows at less than this many launch floors are not judged, and those at less
/// than the other say only how long the kernel takes at most.
inline constexpr double kCountsFromFloors = 1.5;
inline constexpr double kCensoredBelowFloors = 1.25;

struct TrainingInput {
  const KernelRows& all;
  const RowGroup& group;
  const cost::Machine& machine;
  const cost::Profile& profile;  // For the launch costs.
};
TrainingRows MakeTrainingRows(const TrainingInput& input);

/// What the benchmark would show for an estimate of the kernel.
double ObservedUs(const TrainingRow& row, double kernel_us);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_TRAINING_ROWS_H_
