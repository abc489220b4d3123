// The papers' walk over the same ops, overheads and kernel times as ours.
#ifndef STEPCAST_ENGINE_LIN_PREDICT_H_
#define STEPCAST_ENGINE_LIN_PREDICT_H_

#include "base/result.h"
#include "base/units.h"
#include "cost/overheads/overhead_table.h"
#include "engine/run/price_works.h"
#include "ir/graph.h"
#include "timeline/lin_walk.h"

namespace stepcast::engine {

/// What the walk says of the slowest rank.
struct LinPrediction {
  Duration step{};
  Duration gpu_active{};
};

LinPrediction PredictByLinWalk(const ir::GraphData& data,
                               const PricedWorks& works,
                               const cost::OverheadTable& overheads,
                               bool profiled, timeline::LinVariant variant);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_LIN_PREDICT_H_
