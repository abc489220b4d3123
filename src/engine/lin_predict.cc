#include "engine/lin_predict.h"

#include <algorithm>
#include <vector>

#include "cost/overheads/lin_ops.h"

namespace stepcast::engine {
LinPrediction PredictByLinWalk(const ir::GraphData& data,
                               const PricedWorks& works,
                               const cost::OverheadTable& overheads,
                               bool profiled, cost::LinVariant variant) {
  IdVector<ir::WorkId, Duration> durations(data.works.size());
  for (const ir::WorkId id : data.works.ids()) {
    durations[id] = FromMicroseconds(works.prices[id].p50_us);
  }
  std::vector<std::vector<cost::LinOp>> ranks;
  for (const ir::RankId rank : data.ranks.ids()) {
    ranks.push_back(cost::LinOpsOf(data, rank, durations, variant));
  }
  LinPrediction slowest;
  for (const cost::LinResult& result : cost::LinWalkRanks(
           ranks, cost::LinOverheads(overheads, profiled), variant)) {
    slowest.step = std::max(slowest.step, FromMicroseconds(result.step_us));
    slowest.gpu_active =
        std::max(slowest.gpu_active, FromMicroseconds(result.active_us));
  }
  return slowest;
}

}  // namespace stepcast::engine
