// The tables of an embedding bag, as its formulas see them: grouped by size,
// each with the distribution of its ids.
#ifndef STEPCAST_COST_KERNELS_EMBEDDING_BAG_TABLES_H_
#define STEPCAST_COST_KERNELS_EMBEDDING_BAG_TABLES_H_

#include <span>
#include <vector>

#include "ir/shape.h"

namespace stepcast::cost {

// How often lookups come back to a row: distinct rows, cache misses and runs of
// equal ids, expected from the distribution of the ids.

/// The ids of one table: independent random numbers with density x^-alpha on
/// [1, rows + 1), row i being [i, i + 1). An alpha of 0 is uniform.
class IndexDistribution {
 public:
  IndexDistribution(double rows, double alpha);

  /// Distinct rows among so many lookups.
  double ExpectedUnique(double lookups) const;
  /// Probability that the lookup after `lookups` others is of a row not seen
  /// yet: the slope of ExpectedUnique.
  double NextIsNew(double lookups) const;
  /// Lookups after which `unique` rows have been seen; infinite if the table
  /// has fewer.
  double LookupsFor(double unique) const;
  /// Share of the lookups that the hottest row gets.
  double hottest() const { return bins_.front().probability; }

  /// Rows of similar probability.
  struct Bin {
    double rows = 0;
    double probability = 0;  // Of each of them.
  };
  std::span<const Bin> bins() const { return bins_; }

 private:
  std::vector<Bin> bins_;
};

/// The alpha with which `lookups` lookups touch `unique` of `rows` rows; 0 if
/// even uniform ids would touch fewer.
double AlphaForUnique(double rows, double lookups, double unique);

/// A cache between rows and whoever looks them up.
struct RowCache {
  double bytes = 0;         // Of the cache that one table has for itself.
  double row_bytes = 0;     // Of one row.
  double stream_bytes = 0;  // Written or read once per lookup: they pass
                            // through the cache too.
};

/// Misses among so many lookups in an LRU cache that starts empty: one for
/// every row if they fit, else a lookup hits if its row was among the last
/// lookups that the cache holds.
double ExpectedMisses(const IndexDistribution& ids, double lookups,
                      const RowCache& cache);

/// Rows by how many of the lookups they get.
struct Runs {
  double long_rows = 0;  // Rows with more than the limit.
  double long_lookups = 0;
  double short_rows = 0;  // Rows with 1 up to the limit.
  double short_lookups = 0;
};

/// The rows with at most `limit` lookups and those with more; the number of
/// lookups of a row is Poisson distributed.
Runs CountRuns(const IndexDistribution& ids, double lookups, int limit);

/// Tables of one size.
struct TableGroup {
  double tables = 0;
  double rows = 0;          // Of each.
  double dim = 0;           // Of each.
  double lookups = 0;       // Of each.
  double row_bytes = 0;     // In memory, whole sectors.
  double outputs = 0;       // Rows of the output, of each.
  double output_bytes = 0;  // Of one of them, or of its gradient.
  IndexDistribution ids{1, 0};
};

struct BagTables {
  std::vector<TableGroup> groups{};
  double tables = 0;
  double rows = 0;
  double batch = 0;
  double lookups = 0;
  double outputs = 0;      // Rows: one a bag, or one a lookup if not pooled.
  double largest_dim = 0;  // Over the tables.
  double longest_bag = 0;  // Ids in it.
  // By how much the longest of the bags that share a thread block exceeds the
  // mean: a block's place on its SM is free when its last bag is done.
  double spread = 1;
  // Bytes of all ids and of where the bags begin.
  double index_bytes = 0;

  double unique_bytes() const;  // Distinct rows touched.
  double output_bytes() const;
  double additions() const;  // Of a row's elements to a sum.
};

/// The tables of a sized bag. What is not known of them is assumed:
///  - equal tables where they are not listed one by one;
///  - a negative alpha: ids as skewed as those of click logs;
///  - bags as long as each other in a table if the batch divides its lookups,
///    and exponentially distributed if not. Lookups of unlisted tables are
///    spread likewise over the tables.
BagTables TablesOf(const ir::EmbeddingBag& bag);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_EMBEDDING_BAG_TABLES_H_
