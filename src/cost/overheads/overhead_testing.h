// Rows of overheads for tests.
#ifndef STEPCAST_COST_OVERHEADS_OVERHEAD_TESTING_H_
#define STEPCAST_COST_OVERHEADS_OVERHEAD_TESTING_H_

#include "cost/overheads/overhead_table.h"

namespace stepcast::cost {

/// Always as long.
inline OverheadRow FixedRow(double mean, double events = 0) {
  return {.count = 1,
          .mean_us = mean,
          .p10_us = mean,
          .p50_us = mean,
          .p90_us = mean,
          .events = events};
}

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_OVERHEADS_OVERHEAD_TESTING_H_
