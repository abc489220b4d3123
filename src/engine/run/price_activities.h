// The time of every activity of a graph on a GPU: priced by its model, or as it
// was measured where there is none.
#ifndef STEPCAST_ENGINE_RUN_PRICE_ACTIVITIES_H_
#define STEPCAST_ENGINE_RUN_PRICE_ACTIVITIES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cost/collectives/collective_models.h"
#include "cost/estimate.h"
#include "cost/kernel_models.h"
#include "ir/graph.h"
#include "timeline/lower.h"

namespace stepcast::engine {

struct ActivityPrice {
  double p10_us = 0;
  double p50_us = 0;
  double p90_us = 0;
  cost::Origin source = cost::Origin::kUnknown;
  /// Activities with the same number are off together: they share a model.
  uint16_t model = 0;
};

struct PricedActivities {
  IdVector<ir::ActivityId, ActivityPrice> prices;
  std::vector<std::string_view> models;  // By ActivityPrice::model; "" is none.
  /// Shares of the sum of all activities' times.
  std::array<double, cost::kOriginCount> coverage{};

  double share(cost::Origin source) const {
    return coverage[static_cast<size_t>(source)];
  }
};

/// What collectives are priced with.
struct CollectivePricing {
  const cost::CollectiveModels* models = nullptr;
  /// For each rank of the graph, how many of the job it stands for; empty: one.
  std::vector<int64_t> rank_counts{};
  int ranks = 1;  // Of the job.
  int nodes = 1;
  /// All-to-alls go through the ranks of the sender's node
  /// (CollectiveLoad::hierarchical).
  bool hierarchical = false;
};

/// What a rank gets of its server for what the host does itself.
struct HostPricing {
  double memory_gbs = 0;  // 0: not known.
  double nic_gbs = 0;     // Of the network to other servers.
};

struct PriceOptions {
  HostPricing host{};
  /// Without models collectives take what they were measured with.
  CollectivePricing collectives{};
  /// Activities keep their measured time, priced or not.
  bool keep_measured = false;
  /// What measured times of activities without a model are multiplied with:
  /// those of another GPU than the one asked for.
  double measured_factor = 1;
  bool same_gpu = true;
};

/// `measured` has what the trace says of each activity (of collectives their
/// own time), if there is a trace.
PricedActivities PriceActivities(const ir::GraphData& data,
                                 const cost::KernelModels& models,
                                 const timeline::ActivityTimes* measured,
                                 const PriceOptions& options);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_RUN_PRICE_ACTIVITIES_H_
