#include "learn/judge/collective_accuracy.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "cost/collectives/collective_models.h"
#include "ir/names.h"
#include "learn/fit/collective_points.h"

namespace stepcast::learn {
namespace {

// What adds up to a line.
struct Sums {
  Errors ours;
  Errors formula;
  size_t inside = 0;
};

void Add(Sums& sums, const cost::Estimate& estimate, double formula_us,
         double measured_us) {
  sums.ours.Add(estimate.p50_us, measured_us);
  sums.formula.Add(formula_us, measured_us);
  sums.inside +=
      measured_us >= estimate.p10_us && measured_us <= estimate.p90_us ? 1 : 0;
}

CollectiveLine LineOf(const Sums& sums, std::string system, int kind,
                      bool over_network) {
  return {.system = std::move(system),
          .kind = std::string(ir::Name(static_cast<ir::CollectiveKind>(kind))),
          .over_network = over_network,
          .ours = sums.ours.Summary(),
          .formula = sums.formula.Summary(),
          .in_interval = static_cast<double>(sums.inside) /
                         static_cast<double>(sums.ours.size())};
}

// The models of each system, with its own curves alone.
Result<std::vector<cost::CollectiveModels>> ModelsOf(
    const CollectiveRows& rows, std::span<const hw::Cluster> clusters,
    const cost::CollectiveStore& store) {
  std::vector<cost::CollectiveModels> models;
  for (size_t i = 0; i < clusters.size(); ++i) {
    hw::Cluster cluster = clusters[i];
    cluster.node.collectives = {rows.systems[i]};
    ASSIGN_OR_RETURN(cost::CollectiveModels loaded,
                     cost::CollectiveModels::Load(cluster, store));
    models.push_back(std::move(loaded));
  }
  return models;
}

}  // namespace

Result<CollectiveAccuracy> EvaluateCollectives(
    const CollectiveRows& rows, const cost::CollectiveStore& store,
    std::span<const hw::Node> platforms, std::optional<Part> part) {
  ASSIGN_OR_RETURN(const auto clusters, ClustersOf(rows, platforms));
  ASSIGN_OR_RETURN(const auto models, ModelsOf(rows, clusters, store));
  ASSIGN_OR_RETURN(const auto constants, store.LoadConstants());
  std::map<std::tuple<uint16_t, int, bool>, Sums> by_line;
  std::map<std::pair<int, bool>, Sums> by_kind;
  for (const CollectiveRow& row : rows.rows) {
    if (part && PartOf(row) != *part) {
      continue;
    }
    const cost::CollectiveLoad load = LoadOf(row);
    const cost::Estimate estimate = models[row.system].Price(load);
    const double formula =
        cost::CollectiveFormula(clusters[row.system], constants).Us(load);
    const int kind = static_cast<int>(row.kind);
    const bool network = row.nodes > 1;
    Add(by_line[{row.system, kind, network}], estimate, formula, row.time_us);
    Add(by_kind[{kind, network}], estimate, formula, row.time_us);
  }
  CollectiveAccuracy accuracy;
  for (const auto& [key, sums] : by_line) {
    accuracy.lines.push_back(LineOf(sums, rows.systems[std::get<0>(key)],
                                    std::get<1>(key), std::get<2>(key)));
  }
  for (const auto& [key, sums] : by_kind) {
    accuracy.totals.push_back(LineOf(sums, "all", key.first, key.second));
  }
  return accuracy;
}

}  // namespace stepcast::learn
