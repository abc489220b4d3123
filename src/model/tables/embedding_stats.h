// What lookups of a given distribution come to: distinct rows of a batch, how
// often each is used, and how many a cache answers.
#ifndef STEPCAST_MODEL_TABLES_EMBEDDING_STATS_H_
#define STEPCAST_MODEL_TABLES_EMBEDDING_STATS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"

namespace stepcast::model {

/// Rows of similar probability.
struct RowBin {
  double rows = 0;
  double probability = 0;  // Of each of them.
};

/// Some rows, and the share of all lookups that they get.
struct RowShare {
  double rows = 0;
  double lookups = 0;
};

/// The ids of one table. Uniform, Zipf and histograms are worked out in closed
/// form, as lookups are independent; measured ids are sampled: windows of the
/// recorded order, whose starts are random numbers from `seed`.
class EmbeddingStats {
 public:
  /// `ids` is not kUnknown and outlives this; `rows` are the table's.
  EmbeddingStats(const IdDistribution& ids, int64_t rows, uint64_t seed);

  /// Distinct rows among `lookups`.
  double UniqueRows(double lookups) const;

  /// Expected rows with 1, 2-3, 4-7, 8-15, ... of `lookups`.
  std::vector<double> ReuseHistogram(double lookups) const;

  /// The rows that a lookup goes to with `probability` or more, and the share
  /// of the lookups that they get.
  RowShare RowsAbove(double probability) const;

  /// The share of lookups that find their row among the `cache_rows` that were
  /// used last, in the long run.
  double HitRate(double cache_rows) const;

 private:
  // Mean distinct rows of windows of measured ids.
  double MeasuredUnique(double lookups) const;

  const IdDistribution& ids_;
  double rows_ = 0;
  uint64_t seed_ = 0;
  std::vector<RowBin> bins_;
};

/// The exponent of click logs. In Criteo 1TB the rows seen 15 times or more, 3
/// % of a table of 293 million and all of one of 20,000, get 88 to 100 % of the
/// lookups (from how many rows NVIDIA's preprocessing keeps by threshold, and
/// 4.4 billion samples): exponents of 0.96 to 1.00 give these shares.
inline constexpr double kClickLogAlpha = 1.0;

/// The exponent of the power law under which the tables together touch as many
/// rows in `batch` samples as by their own distributions: one number that
/// stands for them. 0: uniform; -1: the ids of some table are not known.
double CommonAlpha(std::span<const TableGroup> tables, int64_t batch,
                   uint64_t seed);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_TABLES_EMBEDDING_STATS_H_
