#include "fit/fit_collective_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/minimize.h"
#include "base/stats.h"

namespace stepcast::fit {
namespace {

// Errors above this are outliers: repeats of one case differ by 5 % in the
// median.
constexpr double kOutlier = 0.05;

// What an octave's bend costs, against points of weight 1: its size, so that
// it fades where there are no points, and its change from one octave to the
// next. The best of eight pairs by five-fold cross-validation over the sizes
// that are not held out: 3.1 % on all-to-all and 2.8 % on all-reduce; the worst
// pair had 4.9 and 3.0.
constexpr double kBendCost = 0.005;
constexpr double kChangeCost = 0.1;

// Pull towards the formula's ramp, for curves of few points.
constexpr double kPullToFormula = 0.02;

// Blends outside are a latency or a rate gone wrong.
constexpr double kLeastBlend = 0.3;
constexpr double kMostBlend = 6;

cost::Ramp RampFrom(std::span<const double> logs) {
  return {.latency_us = std::exp(logs[0]),
          .bus_gbs = std::exp(logs[1]),
          .blend = std::clamp(std::exp(logs[2]), kLeastBlend, kMostBlend)};
}

// A symmetric system with a diagonal and one band, solved in place.
class BandedSystem {
 public:
  explicit BandedSystem(size_t size)
      : diagonal_(size), beside_(size), right_(size) {}

  void AddSquare(size_t i, double weight) { diagonal_[i] += weight; }
  /// Adds weight (a x_i + b x_i+1 - value)^2.
  void AddPair(size_t i, double a, double b, double value, double weight) {
    diagonal_[i] += weight * a * a;
    right_[i] += weight * a * value;
    if (b != 0) {
      diagonal_[i + 1] += weight * b * b;
      beside_[i] += weight * a * b;
      right_[i + 1] += weight * b * value;
    }
  }

  std::vector<double> Solve() {
    const size_t size = diagonal_.size();
    for (size_t i = 1; i < size; ++i) {
      const double factor = beside_[i - 1] / diagonal_[i - 1];
      diagonal_[i] -= factor * beside_[i - 1];
      right_[i] -= factor * right_[i - 1];
    }
    std::vector<double> x(size);
    for (size_t i = size; i-- > 0;) {
      const double next = i + 1 < size ? beside_[i] * x[i + 1] : 0;
      x[i] = (right_[i] - next) / diagonal_[i];
    }
    return x;
  }

 private:
  std::vector<double> diagonal_;
  std::vector<double> beside_;
  std::vector<double> right_;
};

// The bend at each octave from the first point on, in natural logarithms.
std::vector<double> FitBends(const MeasuredCurve& curve,
                             const cost::Ramp& ramp) {
  const double first = std::log2(curve.points.front().wire_bytes);
  const double last = std::log2(curve.points.back().wire_bytes);
  const auto count = static_cast<size_t>(std::ceil(last - first)) + 1;
  BandedSystem system(count);
  for (const SizePoint& point : curve.points) {
    const double at = std::log2(point.wire_bytes) - first;
    const auto left = std::min(static_cast<size_t>(at), count - 1);
    const double part = at - static_cast<double>(left);
    const double residual = point.log_us - std::log(ramp.Us(point.wire_bytes));
    system.AddPair(left, 1 - part, left + 1 < count ? part : 0, residual,
                   point.weight);
  }
  for (size_t i = 0; i < count; ++i) {
    system.AddSquare(i, kBendCost);
    if (i + 1 < count) {
      system.AddPair(i, -1, 1, 0, kChangeCost);
    }
  }
  return system.Solve();
}

// Pools neighbours until nothing falls: the closest such sequence.
void MakeRising(std::vector<double>& values) {
  struct Pool {
    double sum = 0;
    size_t count = 0;
  };
  std::vector<Pool> pools;
  const auto mean = [](const Pool& pool) {
    return pool.sum / static_cast<double>(pool.count);
  };
  for (const double value : values) {
    pools.push_back({.sum = value, .count = 1});
    while (pools.size() > 1 && mean(pools.back()) < mean(pools.end()[-2])) {
      pools.end()[-2].sum += pools.back().sum;
      pools.end()[-2].count += pools.back().count;
      pools.pop_back();
    }
  }
  size_t place = 0;
  for (const Pool& pool : pools) {
    for (size_t i = 0; i < pool.count; ++i) {
      values[place++] = mean(pool);
    }
  }
}

cost::CollectiveCurve FitTimes(const MeasuredCurve& measured,
                               const cost::Ramp& formula) {
  const cost::Ramp ramp = FitRamp(measured, formula);
  const std::vector<double> bends = FitBends(measured, ramp);
  cost::CollectiveCurve curve{
      .kind = measured.kind,
      .group = measured.group,
      .adds_bytes = measured.adds_bytes,
      .rows = measured.rows,
      .from_log2 = std::log2(measured.points.front().wire_bytes),
      .latency_us = ramp.latency_us,
      .bus_gbs = ramp.bus_gbs,
      .blend = ramp.blend};
  for (size_t i = 0; i < bends.size(); ++i) {
    const double bytes = std::exp2(curve.from_log2 + static_cast<double>(i));
    curve.us.push_back(std::log(ramp.Us(bytes)) + bends[i]);
  }
  MakeRising(curve.us);
  for (double& us : curve.us) {
    us = std::exp(us);
  }
  return curve;
}

// How far rows lie from curves that did not see their size: a fifth of the
// sizes is left out in turn, but for the ends, where nothing leads on.
void SetSpread(const MeasuredCurve& measured, const cost::Ramp& formula,
               cost::CollectiveCurve& curve) {
  constexpr size_t kSizeFolds = 5;
  std::vector<double> ratios;
  for (size_t fold = 0; fold < kSizeFolds; ++fold) {
    MeasuredCurve kept = measured;
    kept.points.clear();
    std::vector<double> left_out;
    for (size_t i = 0; i < measured.points.size(); ++i) {
      const bool end = i == 0 || i + 1 == measured.points.size();
      if (!end && i % kSizeFolds == fold) {
        left_out.push_back(measured.points[i].wire_bytes);
      } else {
        kept.points.push_back(measured.points[i]);
      }
    }
    if (left_out.empty()) {
      continue;
    }
    const cost::CollectiveCurve without = FitTimes(kept, formula);
    for (size_t i = 0; i < measured.row_us.size(); ++i) {
      if (std::ranges::binary_search(left_out, measured.row_bytes[i])) {
        ratios.push_back(std::log2(measured.row_us[i] /
                                   without.Us(measured.row_bytes[i], formula)));
      }
    }
  }
  curve.log2_p10 = std::min(0.0, Quantile(ratios, 0.1));
  curve.log2_p90 = std::max(0.0, Quantile(ratios, 0.9));
}

}  // namespace

double SoftLoss(double residual) {
  const double scaled = residual / kOutlier;
  return 2 * (std::sqrt(1 + scaled * scaled) - 1);
}

cost::Ramp FitRamp(const MeasuredCurve& curve, const cost::Ramp& formula) {
  CHECK(!curve.points.empty());
  const std::array<double, 3> start = {std::log(formula.latency_us),
                                       std::log(formula.bus_gbs),
                                       std::log(formula.blend)};
  const auto loss = [&](std::span<const double> logs) {
    const cost::Ramp ramp = RampFrom(logs);
    double sum = 0;
    for (const SizePoint& point : curve.points) {
      sum += point.weight *
             SoftLoss(std::log(ramp.Us(point.wire_bytes)) - point.log_us);
    }
    for (size_t i = 0; i < start.size(); ++i) {
      sum += kPullToFormula * SoftLoss(logs[i] - start[i]);
    }
    return sum;
  };
  std::vector<double> best(start.begin(), start.end());
  // Once more from where it stopped: a simplex may shrink too early.
  for (int round = 0; round < 3; ++round) {
    best = Minimize(loss, best, {.evaluations = 300, .first_step = 0.2});
  }
  return RampFrom(best);
}

cost::CollectiveCurve FitCurve(const MeasuredCurve& curve,
                               const cost::Ramp& formula) {
  cost::CollectiveCurve fitted = FitTimes(curve, formula);
  SetSpread(curve, formula, fitted);
  return fitted;
}

}  // namespace stepcast::fit
