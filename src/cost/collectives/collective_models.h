// Prices collectives on a cluster: as measured on such systems where there is
// data, by the formula of its links where there is none.
#ifndef STEPCAST_COST_COLLECTIVES_COLLECTIVE_MODELS_H_
#define STEPCAST_COST_COLLECTIVES_COLLECTIVE_MODELS_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/collectives/collective_store.h"
#include "cost/collectives/curve.h"
#include "cost/collectives/formula.h"
#include "cost/collectives/load.h"
#include "cost/estimate.h"
#include "hw/cluster.h"

namespace stepcast::cost {

class CollectiveModels {
 public:
  /// The curves of the systems that the cluster's platform names. With figures
  /// to try, a collective takes as long as the one of the published cluster for
  /// which the formula says what it says for this one here.
  static Result<CollectiveModels> Load(const hw::Cluster& cluster,
                                       const CollectiveStore& store);
  /// From curves and constants at hand.
  CollectiveModels(hw::Cluster cluster, const CollectiveConstants& constants,
                   std::vector<CollectiveCurve> curves)
      : cluster_(std::move(cluster)),
        constants_(constants),
        curves_(std::move(curves)) {}

  /// Of one collective alone on idle links, from the last rank's arrival on.
  Estimate Price(const CollectiveLoad& load) const;

  /// The same of a rank's part if all ranks do as this one, or of all parts.
  /// Nothing if their sizes are not known.
  /// All-to-alls of several nodes in two stages if `hierarchical`.
  std::optional<Estimate> Price(const ir::Collective& part, RankGroup group,
                                bool hierarchical = false) const;
  std::optional<Estimate> Price(std::span<const ir::Collective> parts,
                                int nodes, bool hierarchical = false) const;

  /// An all-to-all among the ranks that have one place on their nodes, of which
  /// each sends or receives `bytes` of others, while the ranks of all other
  /// places do the same; `job` is all of them.
  Estimate PriceAmongNodes(double bytes, RankGroup job) const;

  /// The time of a load that shares its links with `others` collectives or
  /// copies as large all the while: the transfer takes its turns, what comes
  /// before it does not.
  double SharedUs(const CollectiveLoad& load, int others) const;

  const hw::Cluster& cluster() const { return cluster_; }

 private:
  // A time, and how it came about.
  struct Answer {
    double us = 0;
    double log2_p10 = 0;
    double log2_p90 = 0;
    Origin origin = Origin::kExtrapolated;
    std::string_view model;
  };
  Answer FromFormula(const CollectiveLoad& load) const;
  Answer FromCurve(const CollectiveCurve& curve,
                   const CollectiveLoad& load) const;
  std::optional<Answer> BetweenCurves(const CollectiveLoad& load) const;
  Answer FromNeighbour(const CollectiveCurve& curve,
                       const CollectiveLoad& load) const;
  Answer Find(const CollectiveLoad& load) const;
  Answer FindAsked(const CollectiveLoad& load) const;
  // Where links join nodes to a domain, what a domain does is what a node of
  // others does: the same load with domains for nodes.
  CollectiveLoad InDomains(CollectiveLoad load) const;
  Estimate PriceInDomains(const CollectiveLoad& load) const;
  Estimate PriceAmongDomains(double bytes, RankGroup domains) const;
  Estimate PriceHierarchical(const CollectiveLoad& load) const;
  // Of the cluster that curves were measured on, and of the one asked for.
  CollectiveFormula Formula() const {
    return CollectiveFormula(
        cluster_.published ? *cluster_.published : cluster_, constants_);
  }
  CollectiveFormula AskedFormula() const {
    return CollectiveFormula(cluster_, constants_);
  }

  hw::Cluster cluster_;
  CollectiveConstants constants_;
  std::vector<CollectiveCurve> curves_;
};

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_COLLECTIVES_COLLECTIVE_MODELS_H_
