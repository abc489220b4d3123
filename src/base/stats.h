// Quantiles and the errors of predictions.
#ifndef STEPCAST_BASE_STATS_H_
#define STEPCAST_BASE_STATS_H_

#include <cstddef>
#include <vector>

#include "base/units.h"

namespace stepcast {

// Time intervals and the length of their union.

/// Half open: [start, end).
struct Interval {
  Duration start{};
  Duration end{};
};

/// Sorts and merges overlapping or touching intervals; drops empty ones.
std::vector<Interval> Union(std::vector<Interval> intervals);

/// The sum of lengths; of a union: the time covered.
Duration TotalLength(const std::vector<Interval>& intervals);

/// The value that a share of the values is below, interpolated linearly
/// between neighbours; 0 if there are none.
double Quantile(std::vector<double> values, double share);

/// Errors of predicted against measured, in percent.
struct ErrorSummary {
  size_t n = 0;
  double gmae_pct = 0;  // Geometric mean of the absolute errors.
  double mape_pct = 0;  // Arithmetic mean of the same.
  double p90_pct = 0;
  double p99_pct = 0;
  double bias_pct = 0;  // Mean of the signed errors.
};

/// Collects predictions and what was measured.
class Errors {
 public:
  void Add(double predicted, double measured) {
    relative_.push_back(predicted / measured - 1);
  }
  size_t size() const { return relative_.size(); }
  ErrorSummary Summary() const;

 private:
  std::vector<double> relative_;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_STATS_H_
