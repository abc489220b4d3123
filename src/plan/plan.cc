#include "plan/plan.h"

#include <array>

#include "base/check.h"
#include "base/text/nearest.h"

namespace stepcast::plan {
namespace {

constexpr std::array<std::string_view, kShardingCount> kNames = {
    "table_wise", "column_wise", "row_wise", "table_row_wise", "data_parallel"};
constexpr std::array<std::string_view, kShardingCount> kShortNames = {
    "TW", "CW", "RW", "TWRW", "DP"};

}  // namespace

std::string_view Name(Sharding sharding) {
  return kNames[static_cast<size_t>(sharding)];
}

std::string_view ShortName(Sharding sharding) {
  return kShortNames[static_cast<size_t>(sharding)];
}

Result<Sharding> ParseSharding(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) {
      return static_cast<Sharding>(i);
    }
  }
  if (name == "table_column_wise") {
    return Sharding::kColumnWise;
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("sharding type", name, kNames));
}

model::TableAssignment AssignmentOf(
    const Plan& plan, const std::vector<model::TableGroup>& tables,
    const Ranks& ranks) {
  CHECK(plan.tables.size() == tables.size());
  model::TableAssignment assignment;
  assignment.local.resize(static_cast<size_t>(ranks.count));
  assignment.ranks_per_node = ranks.per_node();
  assignment.node_split.resize(static_cast<size_t>(ranks.nodes));
  for (size_t i = 0; i < tables.size(); ++i) {
    const TablePlan& table = plan.tables[i];
    switch (table.sharding) {
      case Sharding::kTableWise:
      case Sharding::kColumnWise:
        for (const Shard& shard : table.shards) {
          model::TableGroup slice = tables[i];
          slice.dim = shard.columns;
          assignment.local[static_cast<size_t>(shard.rank)].push_back(slice);
        }
        break;
      case Sharding::kTableRowWise:
        if (ranks.nodes > 1) {
          const int node = table.shards.front().rank / ranks.per_node();
          assignment.node_split[static_cast<size_t>(node)].push_back(tables[i]);
          break;
        }
        [[fallthrough]];  // One node: its ranks are all there are.
      case Sharding::kRowWise:
        assignment.split.push_back(tables[i]);
        break;
      case Sharding::kDataParallel:
        assignment.replicated.push_back(tables[i]);
        break;
    }
  }
  return assignment;
}

}  // namespace stepcast::plan
