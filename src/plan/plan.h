// Who has which part of which table.
#ifndef STEPCAST_PLAN_PLAN_H_
#define STEPCAST_PLAN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "model/tables/table_assignment.h"

namespace stepcast::plan {

// The ways to shard a table over ranks.

enum class Sharding : uint8_t {
  kTableWise,     // Unsharded, on one rank.
  kColumnWise,    // Slices of columns, each on a rank.
  kRowWise,       // Rows sharded to all ranks.
  kTableRowWise,  // Rows sharded to the ranks of one node.
  kDataParallel,  // A copy on every rank.
};
inline constexpr size_t kShardingCount = 5;

/// "table_wise", ...: TorchRec's names.
std::string_view Name(Sharding sharding);
/// "TW", "CW", "RW", "TWRW", "DP": as TorchRec's tables have it.
std::string_view ShortName(Sharding sharding);

/// Also "table_column_wise": slices of columns on the ranks of one node. The
/// error lists what is known.
Result<Sharding> ParseSharding(std::string_view name);

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

/// One entry per table, in the model's order.
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
model::TableAssignment AssignmentOf(
    const Plan& plan, const std::vector<model::TableGroup>& tables,
    const Ranks& ranks);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_PLAN_H_
