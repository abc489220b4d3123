// Who has which part of which table.
#ifndef STEPCAST_PLAN_PLAN_H_
#define STEPCAST_PLAN_PLAN_H_

#include <cstdint>
#include <vector>

#include "plan/sharding_kind.h"
#include "workload/model.h"
#include "workload/table_deal.h"

namespace stepcast::plan {

/// A part of a table: `rows` x `columns` numbers from (row, column) on.
struct Shard {
  int64_t row = 0;
  int64_t column = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  int rank = 0;
  friend bool operator==(const Shard&, const Shard&) = default;
};

struct TablePlan {
  Sharding sharding = Sharding::kTableWise;
  std::vector<Shard> shards{};
  friend bool operator==(const TablePlan&, const TablePlan&) = default;
};

/// One entry a table, in the model's order.
struct Plan {
  std::vector<TablePlan> tables{};
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Ranks in groups of as many on each node.
struct Ranks {
  int count = 1;
  int nodes = 1;
  int per_node() const { return count / nodes; }
};

/// What the step's builder makes of a plan. `tables` are single ones, as many
/// as the plan has.
workload::TableDeal DealOf(const Plan& plan,
                           const std::vector<workload::TableGroup>& tables,
                           const Ranks& ranks);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_PLAN_H_
