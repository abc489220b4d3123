// Measured rows, each with what the models say of it.
#ifndef STEPCAST_REPORT_PRICED_ROWS_H_
#define STEPCAST_REPORT_PRICED_ROWS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "cost/profile.h"
#include "hw/device.h"
#include "measurements/kernel_rows.h"

namespace stepcast::report {

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
  std::optional<measurements::Part> part{};
  /// A device that is not among those we know by name.
  std::optional<hw::Device> own_device{};
  size_t threads = 0;
};

/// One a row; rows of other parts than those asked for are left unpriced.
Result<std::vector<PricedRow>> PriceRows(const measurements::KernelRows& rows,
                                         const cost::ProfileStore& store,
                                         const PricingOptions& options);

/// Fails for a file most of whose rows are faster than the GPU's peak or
/// absurdly slow: its times have another unit.
Status CheckUnits(const measurements::KernelRows& rows,
                  std::span<const PricedRow> priced);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_PRICED_ROWS_H_
