#include "cost/kernels/index_reuse.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepcast::cost {
namespace {

// The hottest rows have a bin each; the others share this many, of equal width
// on a logarithmic scale. Distinct rows are then exact to 0.1 %.
constexpr double kSingleRows = 16;
constexpr int kSharedBins = 96;

// Halvings of a search interval: enough for 12 digits.
constexpr int kSearchHalvings = 40;

// The share of draws below `x`, of the power law on [1, end).
class PowerLaw {
 public:
  PowerLaw(double alpha, double end)
      : gamma_(1 - alpha), whole_(Integral(end)) {}
  double Below(double x) const { return Integral(x) / whole_; }

 private:
  // Of x^-alpha from 1 to x.
  double Integral(double x) const {
    const double log_x = std::log(x);
    return std::abs(gamma_) < 1e-9 ? log_x
                                   : std::expm1(gamma_ * log_x) / gamma_;
  }
  double gamma_;
  double whole_;
};

// The largest x in [low, high] for which `fits` holds, which holds up to some x
// and not beyond.
template <typename Predicate>
double LastFitting(double low, double high, const Predicate& fits) {
  for (int i = 0; i < kSearchHalvings; ++i) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

IndexDistribution::IndexDistribution(double rows, double alpha) {
  rows = std::max(rows, 1.0);
  if (alpha <= 0 || rows < 2) {
    bins_.push_back({.rows = rows, .probability = 1 / rows});
    return;
  }
  const double end = rows + 1;
  const PowerLaw law(alpha, end);
  const double shared_from = std::min(kSingleRows + 1, end);
  bins_.reserve(static_cast<size_t>(kSingleRows) + kSharedBins);
  double from = 1;
  const auto add_up_to = [&](double to) {
    if (to > from) {
      const double share = law.Below(to) - law.Below(from);
      bins_.push_back({.rows = to - from, .probability = share / (to - from)});
      from = to;
    }
  };
  while (from < shared_from) {
    add_up_to(std::min(from + 1, shared_from));
  }
  for (int i = 1; i <= kSharedBins; ++i) {
    add_up_to(shared_from * std::pow(end / shared_from,
                                     static_cast<double>(i) / kSharedBins));
  }
}

double IndexDistribution::ExpectedUnique(double lookups) const {
  double unique = 0;
  for (const Bin& bin : bins_) {
    unique -= bin.rows * std::expm1(-bin.probability * lookups);
  }
  return unique;
}

double IndexDistribution::NextIsNew(double lookups) const {
  double share = 0;
  for (const Bin& bin : bins_) {
    share += bin.rows * bin.probability * std::exp(-bin.probability * lookups);
  }
  return share;
}

double IndexDistribution::LookupsFor(double unique) const {
  double high = std::max(unique, 1.0);
  while (ExpectedUnique(high) < unique) {
    high *= 2;
    if (high > 1e18) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return LastFitting(
      0, high, [&](double draws) { return ExpectedUnique(draws) <= unique; });
}

double AlphaForUnique(double rows, double lookups, double unique) {
  // With 4, nine of ten draws are of the first two rows.
  constexpr double kSteepest = 4;
  const auto touches_more = [&](double alpha) {
    return IndexDistribution(rows, alpha).ExpectedUnique(lookups) > unique;
  };
  return touches_more(0) ? LastFitting(0, kSteepest, touches_more) : 0;
}

double ExpectedMisses(const IndexDistribution& ids, double lookups,
                      const RowCache& cache) {
  const auto fits = [&](double draws) {
    return ids.ExpectedUnique(draws) * cache.row_bytes +
               draws * cache.stream_bytes <=
           cache.bytes;
  };
  if (fits(lookups)) {
    return ids.ExpectedUnique(lookups);
  }
  const double window = LastFitting(0, lookups, fits);
  return ids.ExpectedUnique(window) +
         (lookups - window) * ids.NextIsNew(window);
}

Runs CountRuns(const IndexDistribution& ids, double lookups, int limit) {
  Runs runs;
  for (const IndexDistribution::Bin& bin : ids.bins()) {
    const double mean = bin.probability * lookups;
    // Of a Poisson variable: P(0), P(1), ... summed up to the limit.
    double term = std::exp(-mean);
    double up_to_limit = term;
    double below_limit = 0;
    for (int k = 1; k <= limit; ++k) {
      below_limit = up_to_limit;
      term *= mean / k;
      up_to_limit += term;
    }
    const double seen = -std::expm1(-mean);
    const double is_long = std::clamp(1 - up_to_limit, 0.0, seen);
    const double in_long = std::clamp(1 - below_limit, 0.0, 1.0);
    runs.long_rows += bin.rows * is_long;
    runs.long_lookups += bin.rows * mean * in_long;
    runs.short_rows += bin.rows * (seen - is_long);
    runs.short_lookups += bin.rows * mean * (1 - in_long);
  }
  return runs;
}

}  // namespace stepcast::cost
