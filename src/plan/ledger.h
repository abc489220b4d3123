// What a plan puts on each rank, kept up to date part by part, and what the
// step makes of it.
#ifndef STEPCAST_PLAN_LEDGER_H_
#define STEPCAST_PLAN_LEDGER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "plan/problem.h"

namespace stepcast::plan {

/// The cost of a plan. Ranks wait for one another in every exchange, so each
/// phase takes as long as on the rank with most of it.
struct Cost {
  /// What does not fit: the root of the sum of the ranks' squares, so that
  /// little on many is better than much on one.
  double over_bytes = 0;
  double us = 0;   // The step: the device's time, or the host's.
  double tie = 0;  // Orders equal steps: the device's time mostly.
  double host_us = 0;
  // Of the device: lookups on the busiest rank, and what it waits for exchanges
  // beyond them.
  double forward_us = 0;
  double backward_us = 0;
  double forward_exchange_us = 0;
  double backward_exchange_us = 0;
};

/// Fits before fast, fast before even.
bool IsBetter(const Cost& a, const Cost& b);

/// The sums of one rank.
struct RankSums {
  double forward_us = 0;
  double backward_us = 0;
  double bytes = 0;
  double columns = 0;  // Of its own tables' vectors.
  double ids = 0;      // Looked up for the samples of one rank, on average.
};

class Ledger {
 public:
  explicit Ledger(const Problem& problem);
  Ledger(const Problem& problem, const Choices& choices);

  void Add(size_t table, const Choice& choice) { Put(table, choice, 1); }
  void Remove(size_t table, const Choice& choice) { Put(table, choice, -1); }
  /// The part `place` of a table's choice goes to another rank or node.
  void Move(size_t table, const Choice& choice, size_t place, int to);

  /// Loads still to come, as if they could be spread evenly: a bound for plans
  /// that are not complete.
  void SetRest(const RankSums& rest) { rest_ = rest; }

  /// Takes time linear in the ranks.
  Cost Evaluate() const;

  RankSums SumsOf(int rank) const;
  std::span<const double> forward_us() const { return forward_us_; }
  std::span<const double> backward_us() const { return backward_us_; }
  std::span<const double> columns() const { return columns_; }
  std::span<const double> bytes() const { return bytes_; }
  /// Bytes of parts that every rank has.
  double bytes_everywhere() const { return split_load_.bytes + copied_.bytes; }

  /// How long vectors of so many columns take to their samples, or gradients
  /// back, with what the ranks exchange along with them.
  double ExchangeUs(double columns, bool forward) const;

 private:
  void Put(size_t table, const Choice& choice, double sign);
  void PutPart(const Option& option, int place, double sign);
  void PutOn(size_t rank, const ShardLoad& load, double sign);
  HostTime Host(int makers) const;
  double IdsUs(double most_ids, double most_parts) const;
  double SumsUs(bool forward) const;

  const Problem* problem_;
  std::vector<double> forward_us_;
  std::vector<double> backward_us_;
  std::vector<double> bytes_;
  std::vector<double> columns_;
  std::vector<double> ids_;
  std::vector<double> parts_;
  std::vector<double> node_columns_;  // Of tables split over each node.
  RankSums split_load_{};             // Of tables split over all ranks, a rank.
  RankSums copied_{};                 // Of tables on every rank, a rank.
  RankSums total_{};                  // Over all ranks, without these.
  double copied_bytes_ = 0;           // Gradients of tables on every rank.
  int copies_ = 0;                    // Tables of each kind.
  int split_ = 0;
  int node_split_ = 0;
  RankSums rest_{};
};

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_LEDGER_H_
