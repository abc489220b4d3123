// How often lookups come back to a row: distinct rows, cache misses and runs of
// equal ids, expected from the distribution of the ids.
#ifndef STEPCAST_COST_KERNELS_INDEX_REUSE_H_
#define STEPCAST_COST_KERNELS_INDEX_REUSE_H_

#include <span>
#include <vector>

namespace stepcast::cost {

/// The ids of one table: independent draws with density x^-alpha on
/// [1, rows + 1), row i being [i, i + 1). An alpha of 0 is uniform.
class IndexDistribution {
 public:
  IndexDistribution(double rows, double alpha);

  /// Distinct rows among `lookups` draws.
  double ExpectedUnique(double lookups) const;
  /// Probability that the draw after `lookups` others is of a row not seen yet:
  /// the slope of ExpectedUnique.
  double NextIsNew(double lookups) const;
  /// Draws after which `unique` rows have been seen; infinite if there are not
  /// as many.
  double LookupsFor(double unique) const;
  /// Share of the draws that the hottest row gets.
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

/// The alpha with which `lookups` draws touch `unique` of `rows` rows; 0 if
/// even uniform ids would touch fewer.
double AlphaForUnique(double rows, double lookups, double unique);

/// A cache between rows and whoever looks them up.
struct RowCache {
  double bytes = 0;         // Of the cache that one table has for itself.
  double row_bytes = 0;     // Of one row.
  double stream_bytes = 0;  // Written or read once per lookup: they pass
                            // through the cache too.
};

/// Misses among `lookups` draws with the least recently used row replaced,
/// starting without any row: every row once if they fit, else a draw hits if
/// its row was drawn in the window of draws that the cache holds.
double ExpectedMisses(const IndexDistribution& ids, double lookups,
                      const RowCache& cache);

/// Rows by how many of the draws they get.
struct Runs {
  double long_rows = 0;  // Rows with more than the limit.
  double long_lookups = 0;
  double short_rows = 0;  // Rows with 1 up to the limit.
  double short_lookups = 0;
};

/// The rows with at most `limit` draws and those with more; the draws of a row
/// are Poisson distributed.
Runs CountRuns(const IndexDistribution& ids, double lookups, int limit);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_INDEX_REUSE_H_
