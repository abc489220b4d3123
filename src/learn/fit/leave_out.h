// How well GPUs are predicted that nothing was fitted to: each chip with data
// is left out in turn.
#ifndef STEPCAST_LEARN_FIT_LEAVE_OUT_H_
#define STEPCAST_LEARN_FIT_LEAVE_OUT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "cost/profile.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

/// The test rows of one op on a GPU, by models that never saw its chip.
struct LeaveOutLine {
  std::string op;
  std::string type;  // "fp32", "half", "other".
  std::string gpu;
  ErrorSummary roofline;  // Datasheet peaks.
  ErrorSummary trees;     // The formula with ceilings, corrected by trees that
                          // learned from all other chips; n is 0 without.
  ErrorSummary nothing;   // The formula, nothing measured.
  ErrorSummary ceilings;  // The formula with the GPU's ceilings.
  ErrorSummary few_rows;  // That, corrected by a few random rows; mean.
  double nothing_inside = 0;   // Share of the rows in the interval that the
  double ceilings_inside = 0;  // other chips' errors give.
};

struct LeaveOutTable {
  std::vector<LeaveOutLine> lines;
  /// What the errors of all chips give, by family and type.
  cost::FormulaSpreads spreads;
};

/// How many rows of its own the last model is given.
inline constexpr size_t kFewRows = 30;

/// Refits constants, ceilings by rule and trees without each chip. Launch costs
/// are those of the GPU itself: they are the benchmark's, not the kernel's. The
/// intervals come from errors on other chips, whose constants did see this one.
Result<LeaveOutTable> LeaveOneOut(const KernelRows& rows, size_t threads);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_LEAVE_OUT_H_
