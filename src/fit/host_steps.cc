#include "fit/host_steps.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cost/overheads/predicted_plan.h"

namespace stepcast::fit {

HostStep PriceStep(const ir::Graph& graph, const cost::KernelModels& models) {
  HostStep step;
  std::vector<ir::KernelShape> shapes;
  for (const ir::WorkId id : graph.data().works.ids()) {
    shapes.push_back(graph.shape(id));
  }
  std::vector<std::optional<cost::Estimate>> estimates(shapes.size());
  models.PriceAll(shapes, estimates);
  for (const auto& estimate : estimates) {
    step.works_us += estimate ? estimate->p50_us : 0;
  }
  const cost::HostPlan plan = cost::OrderedPlan(graph.data());
  for (const auto& pieces : plan.threads) {
    step.ops += static_cast<size_t>(std::ranges::count(
        pieces, cost::HostKind::kBetweenOps, &cost::HostPiece::kind));
  }
  return step;
}

double FitGap(std::span<const HostStep> steps) {
  // Least sum of ((works + gap * ops) / measured - 1)^2.
  double numerator = 0;
  double denominator = 0;
  for (const HostStep& step : steps) {
    const double ops = static_cast<double>(step.ops) / step.measured_us;
    numerator += ops * (1 - step.works_us / step.measured_us);
    denominator += ops * ops;
  }
  return denominator > 0 ? std::max(0.0, numerator / denominator) : 0;
}

cost::OverheadData GapTable(std::span<const HostStep> steps, double gap_us,
                            std::vector<std::string> provenance) {
  cost::OverheadData data;
  data.name = "host";
  data.provenance = std::move(provenance);
  int64_t gaps = 0;
  for (const HostStep& step : steps) {
    gaps += static_cast<int64_t>(step.ops);
  }
  const std::string all(cost::kPooledName);
  for (cost::OverheadRows& rows : data.parts) {
    rows[all] = {.count = gaps};
  }
  data[cost::OverheadPart::kBetweenOps][all] = {.count = gaps,
                                                .mean_us = gap_us,
                                                .p10_us = gap_us,
                                                .p50_us = gap_us,
                                                .p90_us = gap_us};
  return data;
}

}  // namespace stepcast::fit
