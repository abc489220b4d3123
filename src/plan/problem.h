// What is to be planned: tables, the ways each may be shared out with what a
// part costs, the ranks and their memory.
#ifndef STEPCAST_PLAN_PROBLEM_H_
#define STEPCAST_PLAN_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "plan/cost_curve.h"
#include "plan/plan.h"
#include "plan/sharding_kind.h"
#include "workload/model.h"

namespace stepcast::plan {

/// What one part of a table puts on its rank.
struct ShardLoad {
  double forward_us = 0;   // Lookups and what prepares their ids.
  double backward_us = 0;  // Gradients of its rows, applied.
  double bytes = 0;        // Weights, optimizer's state and buffers.
  double columns = 0;      // Of the vectors it makes.
  double ids = 0;          // Of the samples of one rank.
};

/// One way to share a table out: into `shards` parts alike.
struct Option {
  Sharding sharding = Sharding::kTableWise;
  int shards = 1;
  ShardLoad load{};  // Of each part.
};

/// A table, alone, with the ways that are allowed.
struct Table {
  std::string name{};
  workload::TableGroup group{};
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

/// What the host is busy for in a step. It issues one set of ops for all tables
/// of a kind, and more for each that is on every rank.
struct HostRates {
  struct Kind {
    double first_us = 0;  // If there is a table of the kind.
    double each_us = 0;
  };
  double base_us = 0;  // With tables on one rank each alone.
  Kind replicated{};
  Kind split{};       // Rows on all ranks.
  Kind node_split{};  // Rows on the ranks of a node.
};

struct Problem {
  std::vector<Table> tables{};
  Ranks ranks{};
  int64_t batch = 0;          // Samples a rank.
  double element_bytes = 4;   // Of vectors on the wire.
  double capacity_bytes = 0;  // Of a rank, for parts of tables.
  double other_bytes = 0;     // What the step holds beside them.
  double other_us = 0;        // What the step takes beside embeddings.
  Exchanges exchanges{};
  HostRates host{};
};

/// How one table is shared out: an option and where its parts go.
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
