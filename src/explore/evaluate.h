// Predicts one scenario and fills in its row of a study.
#ifndef STEPCAST_EXPLORE_EVALUATE_H_
#define STEPCAST_EXPLORE_EVALUATE_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "explore/row.h"
#include "explore/study.h"
#include "scenario/resolve.h"

namespace stepcast::explore {

struct EvaluateOptions {
  /// Directories that `stepcast fit` wrote.
  std::vector<std::filesystem::path> profiles{};
  uint32_t samples = 0;  // Monte Carlo samples; 0: no interval.
  uint64_t seed = 1;
};

/// Keeps what was loaded for the next one. Not to be shared between threads;
/// the same scenario has the same row in all.
class Evaluator {
 public:
  explicit Evaluator(const EvaluateOptions& options)
      : options_(options), resolver_(options.profiles) {}

  /// What cannot run has a row that says why, and no time: the machine lacks
  /// the memory, or the implementation does not do it.
  Row Evaluate(std::span<const Setting> settings);

 private:
  Row EvaluateFleet(const scenario::Job& job);
  Row EvaluateStep(const scenario::Job& job);
  Row EvaluateHybrid(scenario::Job job);

  EvaluateOptions options_;
  scenario::Resolver resolver_;
};

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_EVALUATE_H_
