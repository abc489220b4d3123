#include "plan/cost_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stepcast::plan {
namespace {

constexpr double kPointsAnOctave = 8;

}  // namespace

CostCurve::CostCurve(double most, const std::function<double(double)>& us) {
  const double octaves = std::log2(std::max(most, 2.0));
  const auto points =
      static_cast<size_t>(std::ceil(octaves * kPointsAnOctave)) + 1;
  for (size_t i = 0; i < points; ++i) {
    const double bytes = std::exp2(static_cast<double>(i) / kPointsAnOctave);
    bytes_.push_back(bytes);
    us_.push_back(us(bytes));
  }
}

double CostCurve::Us(double bytes) const {
  if (bytes <= 0 || us_.empty()) {
    return 0;
  }
  if (bytes <= 1) {
    return us_.front();
  }
  // The whole part of the logarithm comes from the number's exponent; which of
  // the octave's points is below is looked up.
  int exponent = 0;
  std::frexp(bytes, &exponent);
  const size_t last = us_.size() - 2;
  size_t at = std::min(
      static_cast<size_t>(exponent - 1) * static_cast<size_t>(kPointsAnOctave),
      last);
  while (at < last && bytes_[at + 1] <= bytes) {
    ++at;
  }
  const double part = (bytes - bytes_[at]) / (bytes_[at + 1] - bytes_[at]);
  return us_[at] + part * (us_[at + 1] - us_[at]);
}

}  // namespace stepcast::plan
