// How well published step times are predicted.
#ifndef STEPCAST_LEARN_JUDGE_STEP_ACCURACY_H_
#define STEPCAST_LEARN_JUDGE_STEP_ACCURACY_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "learn/judge/step_words.h"
#include "learn/measured/step_rows.h"

namespace stepcast::learn {

/// A row and what we say to it.
struct PredictedStep {
  const StepRow* row = nullptr;
  std::string workload;
  std::string impl;
  std::string gpu;  // Ours.
  double predicted_ms = 0;
  double gpu_active_ms = 0;
  double p10_ms = 0;
  double p90_ms = 0;

  double error_pct() const;
  bool in_interval() const;
};

struct SkippedStep {
  const StepRow* row = nullptr;
  std::string why;
};

/// Rows that have the same words in some columns.
struct StepGroup {
  std::vector<std::string> words;
  ErrorSummary errors;
  double worst_pct = 0;    // The largest absolute error.
  double in_interval = 0;  // Share of the rows between p10 and p90.
};

struct StepAccuracy {
  std::vector<PredictedStep> rows;  // In the order of the input.
  std::vector<SkippedStep> skipped;
  std::vector<std::string> columns;  // That make a group.
  std::vector<StepGroup> groups;     // Sorted by their words.
  StepGroup all;
};

struct StepAccuracyOptions {
  /// Columns whose words make a group.
  std::vector<std::string> columns = {"implementation", "mode", "gpu"};
  std::vector<std::filesystem::path> profiles{};
  uint32_t samples = 100;  // Monte Carlo, for an interval.
  uint64_t seed = 1;
  size_t threads = 0;
};

/// Every row is predicted, or skipped with its reason. The rows must outlive
/// the result, which does not depend on the number of threads.
StepAccuracy EvaluateSteps(const std::vector<StepRow>& rows,
                           const StepWords& words,
                           const StepAccuracyOptions& options);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_JUDGE_STEP_ACCURACY_H_
