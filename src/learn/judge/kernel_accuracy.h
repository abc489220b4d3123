// How well kernel models predict measured kernel times.
#ifndef STEPCAST_LEARN_JUDGE_KERNEL_ACCURACY_H_
#define STEPCAST_LEARN_JUDGE_KERNEL_ACCURACY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "cost/profile.h"
#include "hw/device.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

// Measured rows, each with what the models say of it.

/// What all models say of one row.
struct PricedRow {
  bool priced = false;
  bool too_fast = false;
  bool below_floor = false;
  double p10_us = 0;
  double p50_us = 0;
  double p90_us = 0;
  double roofline_us = 0;
  double formula_us = 0;
  double lin2022_us = 0;  // 0: none.
};

struct PricingOptions {
  /// Only rows of this part; nothing: all.
  std::optional<Part> part{};
  /// A device that is not among those we know by name.
  std::optional<hw::Device> own_device{};
  size_t threads = 0;
};

/// One a row; rows of other parts than those asked for are left unpriced.
Result<std::vector<PricedRow>> PriceRows(const KernelRows& rows,
                                         const cost::ProfileStore& store,
                                         const PricingOptions& options);

/// Fails for a file most of whose rows are faster than the GPU's peak or
/// absurdly slow: its times have another unit.
Status CheckUnits(const KernelRows& rows, std::span<const PricedRow> priced);

/// Errors of one set of rows, with those of simpler models on the same rows.
struct AccuracyLine {
  std::string name;  // "all", "linear", "aligned", ...
  ErrorSummary ours;
  double in_interval = 0;  // Share of the rows between p10 and p90.
  ErrorSummary roofline;
  ErrorSummary formula;
  ErrorSummary lin2022;  // n is 0 where the papers have no formula.
};

/// Shapes measured more than once tell what no model can beat.
struct RepeatNoise {
  size_t shapes = 0;
  double gmae_pct = 0;     // Of single times about their shape's mean.
  double over_10_pct = 0;  // Share of shapes whose times differ by more.
};

/// One kind of rows on one GPU.
struct AccuracyGroup {
  std::string op;
  std::string gpu;
  std::string dtype;
  std::string timing;
  size_t below_floor = 0;  // Hidden behind the launch: not judged.
  size_t flagged = 0;      // Faster than the GPU can be: not judged.
  size_t unpriced = 0;     // No model for the family.
  AccuracyLine all;
  std::vector<AccuracyLine> parts;
  RepeatNoise noise;
};

/// A row that is not judged, or judged with doubt.
struct FlaggedRow {
  std::string file;
  uint32_t line = 0;
  std::string why;
};

struct KernelAccuracy {
  std::vector<AccuracyGroup> groups;
  /// Each op over all GPUs and types; named by the op.
  std::vector<AccuracyLine> families;
  std::vector<FlaggedRow> flagged;
};

/// Prices every row and compares. A file most of whose rows are faster than the
/// GPU's peak, or absurdly slow, is an error: its times have another unit.
Result<KernelAccuracy> EvaluateKernels(const KernelRows& rows,
                                       const cost::ProfileStore& store,
                                       const PricingOptions& options);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_JUDGE_KERNEL_ACCURACY_H_
