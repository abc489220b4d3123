// When a measured time is good enough, and when the GPU is not itself.
#ifndef STEPCAST_COLLECT_CUDA_STATISTICS_H_
#define STEPCAST_COLLECT_CUDA_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepcast::collect {

/// The quantile of the values at `share`, interpolated; of at least one value.
double Quantile(std::vector<double> values, double share);
double Median(std::vector<double> values);

/// The values not above Tukey's upper fence. Interrupts only make things
/// slower, so nothing is taken off below.
std::vector<double> WithoutOutliers(const std::vector<double>& values);

/// The standard error of the median, as a share of it; infinite for fewer than
/// two values.
double MedianError(const std::vector<double>& values);

/// What goes into a row.
struct Summary {
  double time_us = 0;  // The median of the values that were kept.
  double min_us = 0;
  int64_t count = 0;  // Kept.
  int64_t outliers = 0;
  bool is_stable = false;
};

/// Takes times until their median stands still.
class Sampler {
 public:
  /// Stable: at least `fewest` times, and a standard error of the median of at
  /// most `tolerance`. Given up after `most`.
  explicit Sampler(size_t fewest = 5, size_t most = 60, double tolerance = 0.01)
      : fewest_(fewest), most_(most), tolerance_(tolerance) {}

  void Add(double time_us) { times_.push_back(time_us); }
  size_t count() const { return times_.size(); }
  bool IsStable() const;
  bool IsDone() const { return times_.size() >= most_ || IsStable(); }
  /// Of at least one time.
  Summary Summarize() const;

 private:
  size_t fewest_;
  size_t most_;
  double tolerance_;
  std::vector<double> times_{};
};

/// Compares one fixed kernel with what it took on the rested GPU: the mark is a
/// low quantile of all its times, since a GPU that is hot is never too fast but
/// a single fast time may be an accident.
class ThrottleWatch {
 public:
  /// False: what was measured since the last good look is not to be trusted.
  bool Check(double time_us);
  /// 0 before the first look.
  double mark_us() const;
  int64_t throttled() const { return throttled_; }

 private:
  std::vector<double> times_{};
  int64_t throttled_ = 0;
};

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_STATISTICS_H_
