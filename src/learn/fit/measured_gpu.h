// What the rows of one GPU tell by themselves, before anything is learned: its
// ceilings, its launch costs, and which of its rows can be judged.
#ifndef STEPCAST_LEARN_FIT_MEASURED_GPU_H_
#define STEPCAST_LEARN_FIT_MEASURED_GPU_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/kernels/family.h"
#include "cost/profile.h"
#include "hw/usual_shares.h"
#include "learn/fit/training_rows.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

/// Rows of one GPU that are judged together.
struct RowCase {
  std::string op;    // "linear", "bmm"; other families by their name.
  std::string type;  // "fp32", "half", "other".
  RowGroup group;
  bool from_profiles = false;  // Of whole models, not of a benchmark.
  /// The same rows against the formula with the GPU's ceilings and the
  /// constants it was measured with; without features.
  std::vector<TrainingRow> rows;
};

struct MeasuredGpu {
  uint16_t gpu = 0;       // Of KernelRows::gpus.
  hw::Device device;      // With its ceilings.
  cost::Profile profile;  // Ceilings and launches.
  std::vector<RowCase> cases;
};

Result<MeasuredGpu> MeasureGpu(const KernelRows& rows, uint16_t gpu,
                               const cost::Constants& constants);

/// All GPUs that have rows.
Result<std::vector<MeasuredGpu>> MeasureGpus(const KernelRows& rows,
                                             const cost::Constants& constants,
                                             size_t threads);

/// The machine as the kernels of a case found it. An eager benchmark holds the
/// last call's output while it makes the next one, so it goes through L2 with
/// one output more than a kernel has: the rates of A100 fall to those of DRAM
/// where inputs and two outputs, not one, outgrow it.
cost::Machine AsBenchmarked(cost::Machine machine, const RowCase& one);

/// At most `most` of the rows of a part that count, chosen by the hash of their
/// shapes: places in `rows`.
std::vector<size_t> SampleRows(std::span<const TrainingRow> rows, Part part,
                               size_t most);

/// The rule for GPUs without measurements, from these that have them. What they
/// do not show stays as it is built in.
hw::ShareRule FitShareRule(std::span<const MeasuredGpu* const> gpus);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_MEASURED_GPU_H_
