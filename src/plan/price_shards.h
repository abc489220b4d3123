// The price of a part of a table on the rank that has it.
#ifndef STEPCAST_PLAN_PRICE_SHARDS_H_
#define STEPCAST_PLAN_PRICE_SHARDS_H_

#include "plan/problem.h"
#include "plan/shard_rates.h"
#include "workload/model.h"

namespace stepcast::plan {

class ShardPricer {
 public:
  ShardPricer(const Job& job, const ShardRates& rates)
      : job_(job), rates_(rates) {}

  /// The load of each part of `table`, shared out as `option` says: what one
  /// part more takes in the kernels of a rank that has a usual number of them,
  /// for they handle all parts in one go. Of tables that the host looks up:
  /// what the host and copies take, which nothing hides.
  ShardLoad Price(const workload::TableGroup& table,
                  const Option& option) const;

 private:
  void PriceByHost(const workload::TableGroup& part, ShardLoad& load) const;

  const Job& job_;
  const ShardRates& rates_;
};

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_PRICE_SHARDS_H_
