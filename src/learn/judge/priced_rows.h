// Measured rows, each with what the models say of it.
#ifndef STEPCAST_LEARN_JUDGE_PRICED_ROWS_H_
#define STEPCAST_LEARN_JUDGE_PRICED_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/machine.h"
#include "cost/profile.h"
#include "hw/device.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

/// What all models say of one row: of its kernels alone.
struct PricedRow {
  bool priced = false;
  bool too_fast = false;
  bool below_floor = false;
  double p10_us = 0;
  double p50_us = 0;
  double p90_us = 0;
  double roofline_us = 0;
  double formula_us = 0;
  double lead_us = 0;   // The launch's part of what a clock shows,
  double floor_us = 0;  // and the least it shows; 0 for kernels alone.

  bool judged() const { return priced && !too_fast && !below_floor; }
  /// What a clock around the call shows for a time of the kernels.
  double Observed(double kernels_us) const {
    return std::max(floor_us, lead_us + kernels_us);
  }
};

struct PricedRows {
  std::vector<PricedRow> rows;          // One a measured row.
  std::vector<cost::Machine> machines;  // One a GPU.
};

struct PricingOptions {
  /// Only rows of this part; nothing: all.
  std::optional<Part> part{};
  /// A device that is not among those we know by name.
  std::optional<hw::Device> own_device{};
  size_t threads = 0;
};

/// Rows of other parts than those asked for are left unpriced.
Result<PricedRows> PriceRows(const KernelRows& rows,
                             const cost::ProfileStore& store,
                             const PricingOptions& options);

/// The rows of the part asked for with their shapes and times, for programs
/// that try other models on them; as JSON.
std::string PricedRowsJson(const KernelRows& rows, const PricedRows& priced,
                           std::optional<Part> part);

/// Fails for a file most of whose rows are faster than the GPU's peak or
/// absurdly slow: its times have another unit.
Status CheckUnits(const KernelRows& rows, std::span<const PricedRow> priced);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_JUDGE_PRICED_ROWS_H_
