#include "plan/plan.h"

#include "base/check.h"

namespace stepcast::plan {

workload::TableDeal DealOf(const Plan& plan,
                           const std::vector<workload::TableGroup>& tables,
                           const Ranks& ranks) {
  CHECK(plan.tables.size() == tables.size());
  workload::TableDeal deal;
  deal.local.resize(static_cast<size_t>(ranks.count));
  deal.ranks_per_node = ranks.per_node();
  deal.node_split.resize(static_cast<size_t>(ranks.nodes));
  for (size_t i = 0; i < tables.size(); ++i) {
    const TablePlan& table = plan.tables[i];
    switch (table.sharding) {
      case Sharding::kTableWise:
      case Sharding::kColumnWise:
        for (const Shard& shard : table.shards) {
          workload::TableGroup slice = tables[i];
          slice.dim = shard.columns;
          deal.local[static_cast<size_t>(shard.rank)].push_back(slice);
        }
        break;
      case Sharding::kTableRowWise:
        if (ranks.nodes > 1) {
          const int node = table.shards.front().rank / ranks.per_node();
          deal.node_split[static_cast<size_t>(node)].push_back(tables[i]);
          break;
        }
        [[fallthrough]];  // One node: its ranks are all there are.
      case Sharding::kRowWise:
        deal.split.push_back(tables[i]);
        break;
      case Sharding::kDataParallel:
        deal.replicated.push_back(tables[i]);
        break;
    }
  }
  return deal;
}

}  // namespace stepcast::plan
