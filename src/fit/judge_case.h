// Judges the rows of one op on a GPU by models that know only other chips.
#ifndef STEPCAST_FIT_JUDGE_CASE_H_
#define STEPCAST_FIT_JUDGE_CASE_H_

#include <vector>

#include "base/result.h"
#include "cost/constants.h"
#include "fit/leave_out.h"
#include "fit/measured_gpu.h"
#include "fit/spreads.h"
#include "hw/usual_shares.h"
#include "measurements/kernel_rows.h"

namespace stepcast::fit {

/// What models without the GPU's chip say of a test row's kernel.
struct Judged {
  const TrainingRow* row = nullptr;
  double roofline_us = 0;
  double nothing_us = 0;
  double ceilings_us = 0;
};

/// A line of the table but for its intervals, which need the other chips'
/// errors; `tests` is empty where there are too few rows for a line.
struct JudgedCase {
  LeaveOutLine line;
  Misses misses;
  std::vector<Judged> tests;
};

/// What is known of GPUs without those of one chip.
struct Others {
  std::vector<const MeasuredGpu*> gpus;
  cost::Constants constants;
  hw::ShareRule rule;
};

/// `one` is a case of `gpu`, which is not among the others.
Result<JudgedCase> JudgeCase(const measurements::KernelRows& rows,
                             const MeasuredGpu& gpu, const RowCase& one,
                             const Others& others);

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_JUDGE_CASE_H_
