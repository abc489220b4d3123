#include "engine/lin_predict.h"

#include <algorithm>
#include <vector>

#include "timeline/lin_ops.h"

namespace stepcast::engine {
LinPrediction PredictByLinWalk(const ir::GraphData& data,
                               const PricedWorks& works,
                               const cost::OverheadTable& overheads,
                               bool profiled, timeline::LinVariant variant) {
  IdVector<ir::WorkId, Duration> durations(data.works.size());
  for (const ir::WorkId id : data.works.ids()) {
    durations[id] = FromMicroseconds(works.prices[id].p50_us);
  }
  std::vector<std::vector<timeline::LinOp>> ranks;
  for (const ir::RankId rank : data.ranks.ids()) {
    ranks.push_back(timeline::LinOpsOf(data, rank, durations, variant));
  }
  LinPrediction slowest;
  for (const timeline::LinResult& result : timeline::LinWalkRanks(
           ranks, timeline::LinOverheads(overheads, profiled), variant)) {
    slowest.step = std::max(slowest.step, FromMicroseconds(result.step_us));
    slowest.gpu_active =
        std::max(slowest.gpu_active, FromMicroseconds(result.active_us));
  }
  return slowest;
}

}  // namespace stepcast::engine
