// What one rank of a job has of the model.
#ifndef STEPCAST_WORKLOAD_RANK_PLAN_H_
#define STEPCAST_WORKLOAD_RANK_PLAN_H_

#include <cstdint>
#include <vector>

#include "workload/model.h"

namespace stepcast::workload {

/// Which tables a rank looks up. A table that is not replicated is on one rank,
/// which looks it up for the samples of all.
struct RankPlan {
  int64_t rank = 0;
  int64_t world = 1;
  std::vector<TableGroup> local{};       // With one rank: all of the model's.
  std::vector<TableGroup> replicated{};  // On every rank, for its own samples.
};

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_RANK_PLAN_H_
