// Time intervals and the length of their union.
#ifndef STEPCAST_BASE_INTERVALS_H_
#define STEPCAST_BASE_INTERVALS_H_

#include <vector>

#include "base/units.h"

namespace stepcast {

/// Half open: [start, end).
struct Interval {
  Duration start{};
  Duration end{};
};

/// Sorts and merges overlapping or touching intervals; drops empty ones.
std::vector<Interval> Union(std::vector<Interval> intervals);

/// The sum of lengths; of a union: the time covered.
Duration TotalLength(const std::vector<Interval>& intervals);

}  // namespace stepcast

#endif  // STEPCAST_BASE_INTERVALS_H_
