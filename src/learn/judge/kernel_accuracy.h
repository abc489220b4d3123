// How well kernel models predict measured kernel times.
#ifndef STEPCAST_LEARN_JUDGE_KERNEL_ACCURACY_H_
#define STEPCAST_LEARN_JUDGE_KERNEL_ACCURACY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "cost/profile.h"
#include "learn/judge/priced_rows.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

/// Errors of one set of rows, with those of simpler models on the same rows.
struct AccuracyLine {
  std::string name;  // "all", "linear", "aligned", ...
  ErrorSummary ours;
  double in_interval = 0;  // Share of the rows between p10 and p90.
  ErrorSummary roofline;
  ErrorSummary formula;
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
  size_t below_floor = 0;  // Hidden after the launch: not judged.
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
  PricedRows priced;
};

/// Prices every row and compares. A file most of whose rows are faster than the
/// GPU's peak, or absurdly slow, is an error: its times have another unit.
Result<KernelAccuracy> EvaluateKernels(const KernelRows& rows,
                                       const cost::ProfileStore& store,
                                       const PricingOptions& options);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_JUDGE_KERNEL_ACCURACY_H_
