// Whether the parts of a table, as a file has them, make up the table.
#ifndef STEPCAST_PLAN_CHECK_PLAN_H_
#define STEPCAST_PLAN_CHECK_PLAN_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "workload/model.h"

namespace stepcast::plan {

/// Fails for what a file has.
tl::unexpected<Error> Wrong(std::string message);

/// Fails, without naming the table, where a number of it is in no part or in
/// two, where a rank does not exist, and where parts are not what the sharding
/// type stands for.
Status CheckTable(const TablePlan& plan, const workload::TableGroup& table,
                  const Ranks& ranks);

/// The parts of a table of which only the ranks are given.
Result<std::vector<Shard>> ShardsOn(const std::vector<int>& on,
                                    Sharding sharding,
                                    const workload::TableGroup& table,
                                    const Ranks& ranks);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_CHECK_PLAN_H_
