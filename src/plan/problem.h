// What is to be planned: tables, the ways each may be divided with what a
// part costs, the ranks and their memory.
#ifndef STEPCAST_PLAN_PROBLEM_H_
#define STEPCAST_PLAN_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/model.h"
#include "plan/plan.h"

namespace stepcast::plan {

// A time that rises with bytes, asked for often: a table of it.

/// Microseconds over bytes, at eight points an octave and straight between.
class CostCurve {
 public:
  CostCurve() = default;
  /// `us` from 1 byte to `most` bytes; no bytes take no time. Beyond `most`
  /// the last slope goes on.
  CostCurve(double most, const std::function<double(double)>& us);

  double Us(double bytes) const;

 private:
  std::vector<double> bytes_;
  std::vector<double> us_;
};

/// Gradients of tables on every rank are summed in FP32.
inline constexpr double kGradientBytes = 4;

/// What one part of a table puts on its rank.
struct ShardLoad {
  double forward_us = 0;   // Lookups and what prepares their ids.
  double backward_us = 0;  // Gradients of its rows, applied.
  double bytes = 0;        // Weights, optimizer's state and buffers.
  double columns = 0;      // Of the vectors it makes.
  double ids = 0;          // Of the samples of one rank.
};

/// One way to shard a table: into `shards` equal parts.
struct Option {
  Sharding sharding = Sharding::kTableWise;
  int shards = 1;
  ShardLoad load{};  // Of each part.
};

/// A table, alone, with the ways that are allowed.
struct Table {
  std::string name{};
  model::TableGroup group{};
  double host_bytes = 0;  // Of the host's memory, with its optimizer's state.
  std::vector<Option> options{};
};

/// What ranks do together. Bytes are those of the busiest rank: what it sends
/// to others by all-to-all, its input of a reduction, its part of a gather.
struct Exchanges {
  CostCurve to_samples{};      // Vectors, and gradients back.
  CostCurve reduce_scatter{};  // Over all ranks.
  CostCurve all_gather{};
  CostCurve all_reduce{};
  CostCurve node_reduce_scatter{};  // Over the ranks of a node.
  CostCurve node_all_gather{};
  CostCurve across_nodes{};  // Between ranks of the same place on their nodes.
};

/// What the host is busy for in a step. It waits for sizes of a batch before
/// the lookups, and for those of the next batch after them; then it issues
/// what leads to the exchange of gradients, and gets ahead while these are on
/// their way, up to the first wait of the next step.
struct HostTime {
  double before_us = 0;  // From the first wait to the second,
  double middle_us = 0;  // up to the exchange,
  double after_us = 0;   // up to the first wait.

  double total_us() const { return before_us + middle_us + after_us; }
};

/// It issues one set of ops for all tables of a kind, more for each that is on
/// every rank, and something for each rank that makes vectors for others.
struct HostRates {
  struct Kind {
    HostTime first{};  // If there is one.
    HostTime each{};
  };
  HostTime base{};    // With one rank that makes vectors.
  Kind makers{};      // Ranks that make vectors; `first` is in the base.
  Kind replicated{};  // Tables: copies on all ranks,
  Kind split{};       // rows on all ranks,
  Kind node_split{};  // rows on the ranks of a node.
};

struct Problem {
  std::vector<Table> tables{};
  Ranks ranks{};
  int64_t batch = 0;          // Samples per rank.
  double element_bytes = 4;   // Of vectors on the wire.
  double capacity_bytes = 0;  // Of a rank, for parts of tables.
  double other_bytes = 0;     // What else the step holds.
  double lead_us = 0;         // Of the device before its lookups.
  double other_us = 0;        // Between and after exchanges, likewise
                              // without embeddings.
  Exchanges exchanges{};
  HostRates host{};
};

/// How one table is divided: an option and where its parts go.
struct Choice {
  uint16_t option = 0;
  /// The rank of each part of tables and columns; the node of kTableRowWise;
  /// nothing if all ranks have a part.
  std::vector<int> places{};
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// One a table.
using Choices = std::vector<Choice>;

/// Whether parts go to all ranks.
bool IsEverywhere(Sharding sharding);

/// Places that a choice of this option needs: parts, one node, or none.
int PlacesOf(const Option& option);

/// A plan as it is written down.
Plan PlanOf(const Problem& problem, const Choices& choices);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_PROBLEM_H_
