// The steps of Lin et al. (HiPC 2022) on V100 and TITAN Xp compared to ours,
// with the papers' own errors.
#ifndef STEPCAST_TESTS_ACCURACY_PAPER_STEPS_H_
#define STEPCAST_TESTS_ACCURACY_PAPER_STEPS_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepcast::accuracy {

/// One of the 24 configurations; errors in percent.
struct PaperStep {
  std::string gpu;
  std::string model;
  int64_t batch = 0;
  double step_ms = 0;    // Measured, without a profiler.
  double active_ms = 0;  // Measured, with one.
  double our_step_ms = 0;
  double our_active_ms = 0;          // As the recorder shows it.
  double our_plain_active_ms = 0;    // Kernels as they are.
  double their_step_pct = 0;         // Overheads of the same workload.
  double their_shared_step_pct = 0;  // Shared overheads.
  double their_active_pct = 0;

  double our_step_pct() const;
  double our_active_pct() const;
  double our_plain_active_pct() const;
};

/// Predicts them with the overheads of the papers' host. `data` has the folder
/// authors.
Result<std::vector<PaperStep>> PredictPaperSteps(
    const std::filesystem::path& data);

/// Geometric means of absolute errors in percent.
struct PaperErrors {
  double our_step = 0;
  double our_active = 0;
  double our_plain_active = 0;
  double their_step = 0;
  double their_shared_step = 0;
  double their_active = 0;
};
PaperErrors ErrorsOf(std::span<const PaperStep> steps);

/// A table in Markdown, with the means as its last line.
std::string PaperTable(std::span<const PaperStep> steps);

}  // namespace stepcast::accuracy

#endif  // STEPCAST_TESTS_ACCURACY_PAPER_STEPS_H_
