// The choices for a table that are worth a look where ranks are loaded as they
// are.
#ifndef STEPCAST_PLAN_CANDIDATES_H_
#define STEPCAST_PLAN_CANDIDATES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "plan/ledger.h"
#include "plan/problem.h"

namespace stepcast::plan {

class Candidates {
 public:
  explicit Candidates(const Problem& problem);

  /// Looks at the ranks: those with least to do come first from here on. Ranks
  /// without room for `bytes` come last.
  void Sort(const Ledger& ledger, double bytes);
  /// Ranks as sorted.
  const std::vector<int>& ranks() const { return ranks_; }

  /// From here on only these ways, for tables that have one of them; empty:
  /// all.
  void Prefer(std::vector<Sharding> ways) { ways_ = std::move(ways); }

  /// Every option of a table: whole on each of the first `most` ranks, its
  /// slices on the first ranks, its rows on each of the first nodes, or
  /// everywhere.
  void Of(size_t table, size_t most, std::vector<Choice>& choices) const;

 private:
  const Problem& problem_;
  double column_us_ = 0;  // What a column more on the busiest rank costs.
  std::vector<Sharding> ways_;
  std::vector<int> ranks_;
  std::vector<int> nodes_;
  std::vector<double> loads_;
};

/// Tables, those that cost most when unsharded on one rank first.
std::vector<size_t> HeaviestFirst(const Problem& problem);

/// What a table adds at least, in the way that costs ranks least in sum.
RankSums LeastOf(const Table& table);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_CANDIDATES_H_
