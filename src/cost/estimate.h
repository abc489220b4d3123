// The price of one kernel: how long, how sure, why, and says who.
#ifndef STEPCAST_COST_ESTIMATE_H_
#define STEPCAST_COST_ESTIMATE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cost/kernels/family.h"

namespace stepcast::cost {

/// Where a number comes from.
enum class Origin : uint8_t {
  kMeasured,
  kFitted,        // A model fitted to this GPU's chip, inside its data.
  kFormula,       // A formula with this GPU's measured ceilings.
  kExtrapolated,  // A GPU without data, or a shape outside of it.
  kUnknown,       // No model and nothing measured: takes no time.
};
inline constexpr size_t kOriginCount = 5;
/// "measured", "fitted", ...
std::string_view Name(Origin origin);

/// The time of one kernel alone on an idle GPU, in microseconds.
struct Estimate {
  double p10_us = 0;
  double p50_us = 0;
  double p90_us = 0;
  Base base{};
  Origin origin = Origin::kFormula;
  std::string_view model;  // Who answered; lives as long as the models.
  /// What a recorder shows on top of the time, which is of a kernel among many
  /// (LongerThanReplayedUs).
  double recorded_more_us = 0;
};

/// The time that a recorder shows for it.
Estimate AsRecorded(Estimate estimate);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_ESTIMATE_H_
