#include "base/stats.h"

#include <algorithm>
#include <cmath>

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

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  const double part = at - static_cast<double>(below);
  return values[below] + part * (values[above] - values[below]);
}

ErrorSummary Errors::Summary() const {
  ErrorSummary summary{.n = relative_.size()};
  if (relative_.empty()) {
    return summary;
  }
  // An exact hit has no logarithm. A thousandth of a percent is far below what
  // any clock shows.
  constexpr double kLeastError = 1e-5;
  std::vector<double> sizes;
  double logs = 0;
  double sum = 0;
  double bias = 0;
  for (const double error : relative_) {
    sizes.push_back(std::abs(error));
    logs += std::log(std::max(sizes.back(), kLeastError));
    sum += sizes.back();
    bias += error;
  }
  const auto n = static_cast<double>(relative_.size());
  summary.gmae_pct = 100 * std::exp(logs / n);
  summary.mape_pct = 100 * sum / n;
  summary.p90_pct = 100 * Quantile(sizes, 0.9);
  summary.p99_pct = 100 * Quantile(sizes, 0.99);
  summary.bias_pct = 100 * bias / n;
  return summary;
}

}  // namespace stepcast
