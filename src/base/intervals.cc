#include "base/intervals.h"

#include <algorithm>

namespace stepcast {

std::vector<Interval> Union(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::start);
  std::vector<Interval> merged;
  for (const Interval& interval : intervals) {
    if (interval.end <= interval.start) {
      continue;
    }
    if (!merged.empty() && interval.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, interval.end);
    } else {
      merged.push_back(interval);
    }
  }
  return merged;
}

Duration TotalLength(const std::vector<Interval>& intervals) {
  Duration total{};
  for (const Interval& interval : intervals) {
    total += interval.end - interval.start;
  }
  return total;
}

}  // namespace stepcast
