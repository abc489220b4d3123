// Who has which table: the rule by which each implementation shards a model
// over the ranks.
#ifndef STEPCAST_MODEL_TABLES_SHARDING_H_
#define STEPCAST_MODEL_TABLES_SHARDING_H_

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "model/settings.h"
#include "model/tables/rank_plan.h"
#include "model/tables/table_assignment.h"

namespace stepcast::model {

/// Ranks that do the same work are listed once: `plan` is that of the first.
struct RankShare {
  RankPlan plan{};
  int64_t count = 1;
};

/// Ranks of a job, as many as can be distinguished one by one.
inline constexpr int64_t kMostRanks = 16'384;
/// Up to so many ranks, each plan knows what every other rank has.
inline constexpr int64_t kMostLoads = 256;

/// The plans of `world` ranks, as many on each of `nodes`, in the order of
/// their first ranks. Batches of the settings are those of a rank. Fails for
/// worlds that are not a valid number of ranks and for implementations that run
/// on one GPU.
Result<std::vector<RankShare>> ShareTables(const Model& model,
                                           const Settings& settings,
                                           int64_t world, int64_t nodes = 1);

/// The same for an assignment made elsewhere. Fails for tables split over nodes
/// if the implementation is not torchrec.
Result<std::vector<RankShare>> ShareAssignment(
    const Model& model, const Settings& settings, int64_t world,
    const TableAssignment& assignment);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_TABLES_SHARDING_H_
