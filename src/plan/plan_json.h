// Plans as TorchRec writes them: ShardingPlan in JSON
// (docs/formats/sharding_plan.md).
#ifndef STEPCAST_PLAN_PLAN_JSON_H_
#define STEPCAST_PLAN_PLAN_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "plan/plan.h"

namespace stepcast::plan {

/// A table that a plan speaks of.
struct NamedTable {
  std::string name{};
  model::TableGroup group{};
};

/// Reads {"plan": {module: {table: ...}}}, or without the outermost level.
/// Every table has to be there once, whole, on ranks that exist. Where no name
/// of the file is one of a table, and there are as many, they are the tables in
/// their order. Errors begin with `source`.
Result<Plan> ReadPlanJson(std::string_view text, std::string_view source,
                          const std::vector<NamedTable>& tables,
                          const Ranks& ranks);

/// All tables in one module, as torchrec_dlrm has them.
std::string WritePlanJson(const Plan& plan,
                          const std::vector<NamedTable>& tables,
                          const Ranks& ranks);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_PLAN_JSON_H_
