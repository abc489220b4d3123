#include "cost/kernels/embedding/bag_tables.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {
namespace {

// The hottest rows have a bin each; the others share this many, of equal width
// on a logarithmic scale. Distinct rows are then exact to 0.1 %.
constexpr double kSingleRows = 16;
constexpr int kSharedBins = 96;

// Halvings of a search interval: enough for 12 digits.
constexpr int kSearchHalvings = 40;

// The cumulative distribution at `x` of the power law on [1, end).
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

namespace {

// Ids of unknown distribution: chosen on the 16 backward kernels of the PARAM
// DLRM trace (Criteo ids), between the published benchmark's 1.05 and 1.2.
constexpr double kUsualAlpha = 1.15;

// Warps of a thread block of FBGEMM's lookups: 512 threads.
constexpr double kBagsABlock = 16;

// The mean of the largest of n exponentially distributed numbers of mean 1:
// 1 + 1/2 + ... + 1/n, by Euler's formula.
double LargestOf(double n) {
  constexpr double kEuler = 0.5772156649;
  return n <= 1 ? 1 : std::log(n) + kEuler + 1 / (2 * n);
}

// One number per table: from the list, or an equal share of the total.
class PerTable {
 public:
  PerTable(const std::vector<int64_t>& list, double otherwise)
      : list_(list), otherwise_(otherwise) {}
  double operator[](size_t table) const {
    return table < list_.size() ? static_cast<double>(list_[table])
                                : otherwise_;
  }

 private:
  const std::vector<int64_t>& list_;
  double otherwise_;
};

double ElementSize(ir::DType dtype, double otherwise) {
  const int64_t size = ir::SizeOf(dtype);
  return size > 0 ? static_cast<double>(size) : otherwise;
}

double AlphaOf(const ir::EmbeddingBag& bag) {
  if (bag.unique_rows > 0) {
    const auto tables = static_cast<double>(bag.tables);
    return AlphaForUnique(static_cast<double>(bag.rows) / tables,
                          static_cast<double>(bag.lookups) / tables,
                          static_cast<double>(bag.unique_rows) / tables);
  }
  return bag.index_alpha < 0 ? kUsualAlpha : bag.index_alpha;
}

// Tables by rows, dim and lookups, in this order, and how many there are.
using Sizes = std::map<std::tuple<double, double, double>, double>;

Sizes SizesOf(const ir::EmbeddingBag& bag) {
  const auto tables = static_cast<double>(bag.tables);
  Sizes sizes;
  if (bag.table_rows.empty() && bag.table_dims.empty() &&
      bag.table_lookups.empty()) {
    sizes[{static_cast<double>(bag.rows) / tables, static_cast<double>(bag.dim),
           static_cast<double>(bag.lookups) / tables}] = tables;
    return sizes;
  }
  const PerTable rows(bag.table_rows, static_cast<double>(bag.rows) / tables);
  const PerTable dims(bag.table_dims, static_cast<double>(bag.dim));
  const PerTable lookups(bag.table_lookups,
                         static_cast<double>(bag.lookups) / tables);
  for (size_t i = 0; i < static_cast<size_t>(bag.tables); ++i) {
    sizes[{rows[i], dims[i], lookups[i]}] += 1;
  }
  return sizes;
}

// How unequal the bags are, of a pooled lookup.
void SetLengths(const ir::EmbeddingBag& bag, BagTables& tables) {
  const double mean = tables.lookups / tables.outputs;
  const double most_spread = LargestOf(kBagsABlock);
  const bool listed = !bag.table_lookups.empty();
  double longest = mean;
  bool alike = bag.lookups % bag.batch == 0;
  for (const int64_t lookups : bag.table_lookups) {
    longest = std::max(longest, static_cast<double>(lookups) / tables.batch);
    alike = alike && lookups % bag.batch == 0;
  }
  if (bag.longest_bag > 0) {
    const double known = std::max(static_cast<double>(bag.longest_bag), mean);
    // Bags of one table share a block: longer ones elsewhere do not matter.
    tables.spread = alike ? 1 : std::clamp(known / longest, 1.0, most_spread);
    tables.longest_bag = known;
    return;
  }
  if (!alike) {
    longest *= LargestOf(listed ? tables.batch : tables.outputs);
    tables.spread = most_spread;
  } else if (!listed) {
    // One table cannot have more than all lookups.
    longest = std::min(mean * LargestOf(tables.tables),
                       tables.lookups / tables.batch);
  }
  tables.longest_bag = longest;
}

}  // namespace

double BagTables::unique_bytes() const {
  double bytes = 0;
  for (const TableGroup& group : groups) {
    bytes += group.tables * group.row_bytes *
             group.ids.ExpectedUnique(group.lookups);
  }
  return bytes;
}

double BagTables::output_bytes() const {
  double bytes = 0;
  for (const TableGroup& group : groups) {
    bytes += group.tables * group.outputs * group.output_bytes;
  }
  return bytes;
}

double BagTables::additions() const {
  double additions = 0;
  for (const TableGroup& group : groups) {
    additions += group.tables * group.lookups * group.dim;
  }
  return additions;
}

BagTables TablesOf(const ir::EmbeddingBag& bag) {
  BagTables tables{.tables = static_cast<double>(bag.tables),
                   .rows = static_cast<double>(bag.rows),
                   .batch = static_cast<double>(bag.batch),
                   .lookups = static_cast<double>(bag.lookups)};
  const double element = ElementSize(bag.dtype, 4);
  // Table-batched kernels pool in and write FP32; an op a table writes what it
  // reads.
  const double output_element =
      bag.kernel == ir::BagKernel::kPerTable ? element : 4;
  const double alpha = AlphaOf(bag);
  for (const auto& [size, count] : SizesOf(bag)) {
    const auto& [rows, dim, lookups] = size;
    if (lookups > 0) {
      tables.groups.push_back(
          {.tables = count,
           .rows = rows,
           .dim = dim,
           .lookups = lookups,
           .row_bytes = RoundUp(dim * element, kSectorBytes),
           .outputs = bag.pooled ? tables.batch : lookups,
           .output_bytes = dim * output_element,
           .ids = IndexDistribution(rows, alpha)});
    }
    tables.largest_dim = std::max(tables.largest_dim, dim);
  }
  tables.largest_dim =
      std::max(tables.largest_dim, static_cast<double>(bag.max_dim));
  tables.outputs = bag.pooled ? tables.tables * tables.batch : tables.lookups;
  tables.longest_bag = 1;
  if (bag.pooled) {
    SetLengths(bag, tables);
  }
  tables.index_bytes = ElementSize(bag.index_dtype, 8) *
                       (tables.lookups + tables.tables * tables.batch + 1);
  return tables;
}

}  // namespace stepcast::cost
