// Quantities that several commands can check.
#ifndef STEPCAST_CLI_QUANTITIES_H_
#define STEPCAST_CLI_QUANTITIES_H_

#include "base/units.h"
#include "cli/fail_on.h"

namespace stepcast::cli {

inline constexpr Quantity kStepTime = {
    .name = "step", .unit = "us", .help = "predicted step time"};

/// A part of a whole in percent; 0 of nothing.
inline double PercentOf(double part, double whole) {
  return whole > 0 ? kPercent * part / whole : 0;
}

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_QUANTITIES_H_
