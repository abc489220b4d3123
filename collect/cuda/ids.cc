#include "collect/cuda/ids.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace stepcast::collect {
namespace {

// A stride through the table that visits every row once: ranks k and k + 1 are
// about 0.618 tables apart (the golden section), so neighbours in popularity
// share no cache line.
int64_t StrideOf(int64_t rows) {
  auto stride = std::max<int64_t>(
      1, static_cast<int64_t>(0.6180339887 * static_cast<double>(rows)));
  while (std::gcd(stride, rows) != 1) {
    ++stride;
  }
  return stride;
}

}  // namespace

Zipf::Zipf(int64_t rows, double alpha) : rows_(rows), alpha_(alpha) {
  low_ = Integral(1.5) - 1;
  high_ = Integral(static_cast<double>(rows) + 0.5);
  squeeze_ = 2 - InverseIntegral(Integral(2.5) - std::pow(2.0, -alpha));
}

// Of x^-alpha, from 1.
double Zipf::Integral(double x) const {
  const double power = 1 - alpha_;
  return std::abs(power) < 1e-9 ? std::log(x)
                                : std::expm1(power * std::log(x)) / power;
}

double Zipf::InverseIntegral(double y) const {
  const double power = 1 - alpha_;
  return std::abs(power) < 1e-9 ? std::exp(y)
                                : std::exp(std::log1p(power * y) / power);
}

int64_t Zipf::Draw(Random& random) const {
  while (true) {
    const double y = high_ + random.Uniform() * (low_ - high_);
    const double x = InverseIntegral(y);
    const double rank =
        std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(rows_));
    if (rank - x <= squeeze_ ||
        y >= Integral(rank + 0.5) - std::pow(rank, -alpha_)) {
      return static_cast<int64_t>(rank);
    }
  }
}

std::vector<int64_t> MakeIds(int64_t rows, int64_t count, double alpha,
                             uint64_t seed) {
  Random random(seed);
  std::vector<int64_t> ids(static_cast<size_t>(count));
  if (alpha <= 0) {
    for (int64_t& id : ids) {
      id = random.Below(rows);
    }
    return ids;
  }
  const Zipf zipf(rows, alpha);
  const int64_t stride = StrideOf(rows);
  for (int64_t& id : ids) {
    // Both below 2^31 for any table that fits a GPU: no overflow.
    id = (zipf.Draw(random) - 1) * stride % rows;
  }
  return ids;
}

int64_t UniqueCount(std::vector<int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return std::unique(ids.begin(), ids.end()) - ids.begin();
}

}  // namespace stepcast::collect
