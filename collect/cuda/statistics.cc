#include "collect/cuda/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepcast::collect {
namespace {

// Tukey's fences: beyond 1.5 interquartile ranges from the quartiles.
constexpr double kFence = 1.5;
// The standard error of a median over that of a mean for normal noise,
// sqrt(pi / 2), and one interquartile range in standard deviations.
constexpr double kMedianError = 1.2533141373155;
constexpr double kRangeOverSigma = 1.349;
// How much longer than its mark the reference may take. A choice, not measured:
// a GPU is not shared as a core is, so half of what collect/torch allows.
constexpr double kThrottleTolerance = 0.12;
// Looks before there is a mark to hold against, and the quantile that is it.
constexpr size_t kSettle = 3;
constexpr double kMarkShare = 0.2;

}  // namespace

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(std::floor(place));
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] +
         (values[high] - values[low]) * (place - static_cast<double>(low));
}

double Median(std::vector<double> values) {
  return Quantile(std::move(values), 0.5);
}

std::vector<double> WithoutOutliers(const std::vector<double>& values) {
  const double low = Quantile(values, 0.25);
  const double high = Quantile(values, 0.75);
  const double limit = high + kFence * (high - low);
  std::vector<double> kept;
  for (const double value : values) {
    if (value <= limit) {
      kept.push_back(value);
    }
  }
  return kept;
}

double MedianError(const std::vector<double>& values) {
  if (values.size() < 2) {
    return std::numeric_limits<double>::infinity();
  }
  const double middle = Median(values);
  if (!(middle > 0)) {
    return std::numeric_limits<double>::infinity();
  }
  const double range = Quantile(values, 0.75) - Quantile(values, 0.25);
  return kMedianError * range / kRangeOverSigma /
         std::sqrt(static_cast<double>(values.size())) / middle;
}

bool Sampler::IsStable() const {
  return times_.size() >= fewest_ &&
         MedianError(WithoutOutliers(times_)) <= tolerance_;
}

Summary Sampler::Summarize() const {
  const std::vector<double> kept = WithoutOutliers(times_);
  Summary summary;
  summary.time_us = Median(kept);
  summary.min_us = *std::min_element(times_.begin(), times_.end());
  summary.count = static_cast<int64_t>(kept.size());
  summary.outliers = static_cast<int64_t>(times_.size() - kept.size());
  summary.is_stable = IsStable();
  return summary;
}

double ThrottleWatch::mark_us() const {
  return times_.empty() ? 0 : Quantile(times_, kMarkShare);
}

bool ThrottleWatch::Check(double time_us) {
  times_.push_back(time_us);
  if (times_.size() <= kSettle ||
      time_us <= mark_us() * (1 + kThrottleTolerance)) {
    return true;
  }
  ++throttled_;
  return false;
}

}  // namespace stepcast::collect
