#include "model/tables/embedding_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_set>

#include "base/check.h"
#include "base/rng.h"

namespace stepcast::model {
namespace {

// Rows up to here are a bin each; then bins grow by kGrowth. Finer bins change
// distinct rows by less than 0.1 %.
constexpr double kSingleRows = 32;
constexpr double kGrowth = 1.1;

// Windows of measured ids that are looked at.
constexpr int kWindows = 8;

// The integral of x^-alpha from `from` to `to`.
double PowerIntegral(double from, double to, double alpha) {
  if (std::abs(alpha - 1) < 1e-9) {
    return std::log(to / from);
  }
  return (std::pow(to, 1 - alpha) - std::pow(from, 1 - alpha)) / (1 - alpha);
}

// Density x^-alpha on [1, rows + 1); row i is [i, i + 1).
std::vector<RowBin> ZipfBins(double rows, double alpha) {
  const double total = PowerIntegral(1, rows + 1, alpha);
  std::vector<RowBin> bins;
  double from = 1;
  while (from < rows + 1) {
    const double step =
        from <= kSingleRows ? 1 : std::floor(from * kGrowth) - from + 1;
    const double to = std::min(from + step, rows + 1);
    bins.push_back({.rows = to - from,
                    .probability = PowerIntegral(from, to, alpha) /
                                   (total * (to - from))});
    from = to;
  }
  return bins;
}

std::vector<RowBin> HistogramBins(const std::vector<HistogramStep>& steps,
                                  double rows) {
  std::vector<RowBin> bins;
  bins.reserve(steps.size());
  for (const HistogramStep& step : steps) {
    bins.push_back({.rows = step.rows * rows,
                    .probability = step.lookups / (step.rows * rows)});
  }
  return bins;
}

// Ids that came equally often share a bin.
std::vector<RowBin> MeasuredBins(const std::vector<int64_t>& ids) {
  std::map<int64_t, int64_t> uses;
  for (const int64_t id : ids) {
    ++uses[id];
  }
  std::map<int64_t, int64_t> rows_by_uses;
  for (const auto& [id, count] : uses) {
    ++rows_by_uses[count];
  }
  std::vector<RowBin> bins;
  bins.reserve(rows_by_uses.size());
  for (const auto& [count, rows] : rows_by_uses) {
    bins.push_back({.rows = static_cast<double>(rows),
                    .probability = static_cast<double>(count) /
                                   static_cast<double>(ids.size())});
  }
  return bins;
}

std::vector<RowBin> BinsOf(const IdDistribution& ids, double rows) {
  switch (ids.kind) {
    case IdKind::kUniform:
      return {{.rows = rows, .probability = 1 / rows}};
    case IdKind::kZipf:
      return ZipfBins(rows, ids.alpha);
    case IdKind::kHistogram:
      return HistogramBins(ids.steps, rows);
    case IdKind::kMeasured:
      return MeasuredBins(ids.ids);
    case IdKind::kUnknown:
      break;
  }
  CHECK(false) << "ids of unknown distribution have no statistics";
  return {};
}

// A row of probability p is among `lookups` draws: 1 - (1 - p)^n.
double SeenOf(double p, double lookups) {
  return p >= 1 ? 1 : -std::expm1(lookups * std::log1p(-p));
}

double UniqueOf(std::span<const RowBin> bins, double lookups) {
  double unique = 0;
  for (const RowBin& bin : bins) {
    unique += bin.rows * SeenOf(bin.probability, lookups);
  }
  return unique;
}

}  // namespace

std::string_view Name(IdKind kind) {
  switch (kind) {
    case IdKind::kUnknown:
      return "unknown";
    case IdKind::kUniform:
      return "uniform";
    case IdKind::kZipf:
      return "zipf";
    case IdKind::kHistogram:
      return "histogram";
    case IdKind::kMeasured:
      return "measured";
  }
  return "";
}

EmbeddingStats::EmbeddingStats(const IdDistribution& ids, int64_t rows,
                               uint64_t seed)
    : ids_(ids),
      rows_(static_cast<double>(rows)),
      seed_(seed),
      bins_(BinsOf(ids, rows_)) {}

double EmbeddingStats::MeasuredUnique(double lookups) const {
  const size_t length =
      std::min(static_cast<size_t>(std::llround(lookups)), ids_.ids.size());
  Rng rng(seed_);
  double sum = 0;
  for (int i = 0; i < kWindows; ++i) {
    const size_t first = rng.Below(ids_.ids.size() - length + 1);
    const std::unordered_set<int64_t> distinct(
        ids_.ids.begin() + static_cast<ptrdiff_t>(first),
        ids_.ids.begin() + static_cast<ptrdiff_t>(first + length));
    sum += static_cast<double>(distinct.size());
  }
  return sum / kWindows;
}

double EmbeddingStats::UniqueRows(double lookups) const {
  const bool recorded = ids_.kind == IdKind::kMeasured &&
                        lookups <= static_cast<double>(ids_.ids.size());
  return std::min(recorded ? MeasuredUnique(lookups) : UniqueOf(bins_, lookups),
                  rows_);
}

std::vector<double> EmbeddingStats::ReuseHistogram(double lookups) const {
  std::vector<double> histogram;
  for (const RowBin& bin : bins_) {
    // The lookups of a row are Poisson distributed: sum over the terms.
    const double mean = bin.probability * lookups;
    // All but 1e-12 of them.
    const auto most = static_cast<int64_t>(mean + 12 * std::sqrt(mean)) + 12;
    double chance = std::exp(-mean);
    // Where e^-mean is 0, all draws are taken as the mean.
    if (chance == 0) {
      const auto place = static_cast<size_t>(std::log2(mean));
      histogram.resize(std::max(histogram.size(), place + 1));
      histogram[place] += bin.rows;
      continue;
    }
    for (int64_t uses = 1; uses <= most; ++uses) {
      chance *= mean / static_cast<double>(uses);
      const auto place =
          static_cast<size_t>(std::bit_width(static_cast<uint64_t>(uses)) - 1);
      histogram.resize(std::max(histogram.size(), place + 1));
      histogram[place] += bin.rows * chance;
    }
  }
  return histogram;
}

RowShare EmbeddingStats::RowsAbove(double probability) const {
  RowShare share;
  for (const RowBin& bin : bins_) {
    if (bin.probability >= probability) {
      share.rows += bin.rows;
      share.lookups += bin.rows * bin.probability;
    }
  }
  return {.rows = std::min(share.rows, rows_),
          .lookups = std::min(share.lookups, 1.0)};
}

double EmbeddingStats::HitRate(double cache_rows) const {
  if (cache_rows <= 0) {
    return 0;
  }
  if (cache_rows >= UniqueOf(bins_, std::numeric_limits<double>::max())) {
    return 1;
  }
  // The cache holds what was used in its last n lookups (Che, Tung and Wang,
  // 2002), n by bisection on its logarithm.
  double low = 0;
  double high = 60;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (UniqueOf(bins_, std::exp2(middle)) < cache_rows ? low : high) = middle;
  }
  double hits = 0;
  for (const RowBin& bin : bins_) {
    hits +=
        bin.rows * bin.probability * SeenOf(bin.probability, std::exp2(high));
  }
  return std::min(hits, 1.0);
}

double CommonAlpha(std::span<const TableGroup> tables, int64_t batch,
                   uint64_t seed) {
  const auto alpha_of = [](const TableGroup& group) {
    return group.ids.kind == IdKind::kZipf ? group.ids.alpha : 0.0;
  };
  bool alike = true;
  for (const TableGroup& group : tables) {
    if (group.ids.kind == IdKind::kUnknown) {
      return -1;
    }
    alike = alike &&
            (group.ids.kind == IdKind::kZipf ||
             group.ids.kind == IdKind::kUniform) &&
            alpha_of(group) == alpha_of(tables.front());
  }
  if (alike) {
    return tables.empty() ? -1 : alpha_of(tables.front());
  }
  const auto unique_with = [&](const double* alpha) {
    double sum = 0;
    for (const TableGroup& group : tables) {
      const double lookups = group.pooling * static_cast<double>(batch);
      const double unique =
          alpha != nullptr
              ? UniqueOf(ZipfBins(static_cast<double>(group.rows), *alpha),
                         lookups)
              : EmbeddingStats(group.ids, group.rows, seed).UniqueRows(lookups);
      sum += static_cast<double>(group.count) * unique;
    }
    return sum;
  };
  const double wanted = unique_with(nullptr);
  // More skew, fewer rows. A dozen halvings tell alpha to 0.001.
  double low = 0;
  double high = 4;
  for (int i = 0; i < 12; ++i) {
    const double middle = (low + high) / 2;
    (unique_with(&middle) > wanted ? low : high) = middle;
  }
  return low == 0 ? 0 : (low + high) / 2;
}

}  // namespace stepcast::model
