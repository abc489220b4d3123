#include "cost/collectives/collective_models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hw/links.h"

namespace stepcast::cost {
namespace {

constexpr std::string_view kCurve = "collective-curve";
constexpr std::string_view kNear = "collective-curve of another group";
constexpr std::string_view kRates = "collective-formula, measured rates";
constexpr std::string_view kFormula = "collective-formula";

// Whether a curve speaks of the load's kind, on one node or over a network.
bool IsOf(const CollectiveCurve& curve, const CollectiveLoad& load) {
  return curve.kind == load.kind && curve.adds_bytes == load.adds_bytes &&
         (curve.group.nodes > 1) == (load.group.nodes > 1);
}

double Distance(const RankGroup& a, const RankGroup& b) {
  const auto octaves = [](int x, int y) {
    return std::abs(std::log2(static_cast<double>(x) / y));
  };
  return octaves(a.nodes, b.nodes) +
         octaves(a.ranks_per_node(), b.ranks_per_node());
}

// The same bytes among other ranks.
CollectiveLoad WithGroup(const CollectiveLoad& load, RankGroup group) {
  CollectiveLoad other = EvenLoad(load.kind, group, load.wire_bytes);
  other.adds_bytes = load.adds_bytes;
  return other;
}

}  // namespace

Result<CollectiveModels> CollectiveModels::Load(const hw::Cluster& cluster,
                                                const CollectiveStore& store) {
  ASSIGN_OR_RETURN(const CollectiveConstants constants, store.LoadConstants());
  std::vector<CollectiveCurve> curves;
  for (const std::string& system : cluster.node.collectives) {
    ASSIGN_OR_RETURN(const CollectiveProfile* profile, store.Find(system));
    if (profile != nullptr) {
      std::ranges::copy(profile->curves, std::back_inserter(curves));
    }
  }
  return CollectiveModels(cluster, constants, std::move(curves));
}

CollectiveModels::Answer CollectiveModels::FromFormula(
    const CollectiveLoad& load) const {
  return {.us = Formula().Us(load),
          .log2_p10 = constants_.log2_p10,
          .log2_p90 = constants_.log2_p90,
          .origin = Origin::kExtrapolated,
          .model = kFormula};
}

CollectiveModels::Answer CollectiveModels::FromCurve(
    const CollectiveCurve& curve, const CollectiveLoad& load) const {
  const CollectiveFormula formula = Formula();
  const double bytes = formula.EvenWireBytes(load);
  Answer answer{.us = curve.Us(bytes, formula.RampOf(load)),
                .log2_p10 = curve.log2_p10,
                .log2_p90 = curve.log2_p90,
                .origin = Origin::kFitted,
                .model = kCurve};
  if (!curve.has_times()) {
    answer.origin = Origin::kFormula;
    answer.model = kRates;
  } else if (!curve.Covers(bytes)) {
    answer.origin = Origin::kExtrapolated;
  }
  if (answer.origin != Origin::kFitted) {
    answer.log2_p10 = std::min(curve.log2_p10, constants_.log2_p10);
    answer.log2_p90 = std::max(curve.log2_p90, constants_.log2_p90);
  }
  return answer;
}

// Among 5 ranks: between 4 and 8, by the logarithms.
std::optional<CollectiveModels::Answer> CollectiveModels::BetweenCurves(
    const CollectiveLoad& load) const {
  const CollectiveCurve* below = nullptr;
  const CollectiveCurve* above = nullptr;
  for (const CollectiveCurve& curve : curves_) {
    if (!IsOf(curve, load) || curve.group.nodes != load.group.nodes ||
        !curve.has_times()) {
      continue;
    }
    const int ranks = curve.group.ranks;
    if (ranks < load.group.ranks &&
        (below == nullptr || ranks > below->group.ranks)) {
      below = &curve;
    }
    if (ranks > load.group.ranks &&
        (above == nullptr || ranks < above->group.ranks)) {
      above = &curve;
    }
  }
  if (below == nullptr || above == nullptr) {
    return std::nullopt;
  }
  const auto octave = [](int ranks) {
    return std::log2(static_cast<double>(ranks));
  };
  const double part = (octave(load.group.ranks) - octave(below->group.ranks)) /
                      (octave(above->group.ranks) - octave(below->group.ranks));
  const double bytes = Formula().EvenWireBytes(load);
  const auto at = [&](const CollectiveCurve& curve) {
    return curve.Us(bytes, Formula().RampOf(WithGroup(load, curve.group)));
  };
  const double low = at(*below);
  const double high = at(*above);
  const bool covered = below->Covers(bytes) && above->Covers(bytes);
  return Answer{.us = low * std::pow(high / low, part),
                .log2_p10 = std::min(below->log2_p10, above->log2_p10),
                .log2_p90 = std::max(below->log2_p90, above->log2_p90),
                .origin = covered ? Origin::kFitted : Origin::kExtrapolated,
                .model = kNear};
}

// Takes the curve of another group where the formula says as long for it: both
// rise with the bytes, so their chain does.
CollectiveModels::Answer CollectiveModels::FromNeighbour(
    const CollectiveCurve& curve, const CollectiveLoad& load) const {
  const CollectiveFormula formula = Formula();
  const Ramp ramp = formula.RampOf(WithGroup(load, curve.group));
  const double us = formula.Us(load);
  const double bytes = ramp.BytesFor(us);
  const double shorter = std::min(1.0, us / ramp.latency_us);
  return {.us = shorter * curve.Us(bytes, ramp),
          .log2_p10 = constants_.log2_p10,
          .log2_p90 = constants_.log2_p90,
          .origin = Origin::kExtrapolated,
          .model = kNear};
}

CollectiveModels::Answer CollectiveModels::Find(
    const CollectiveLoad& load) const {
  const CollectiveCurve* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const CollectiveCurve& curve : curves_) {
    if (!IsOf(curve, load)) {
      continue;
    }
    const double distance = Distance(curve.group, load.group);
    if (distance < least) {
      least = distance;
      nearest = &curve;
    }
  }
  if (nearest == nullptr) {
    return FromFormula(load);
  }
  if (least == 0) {
    return FromCurve(*nearest, load);
  }
  if (const auto between = BetweenCurves(load)) {
    return *between;
  }
  return FromNeighbour(*nearest, load);
}

// Both the formula and the curves rise with the bytes and with what makes links
// slower, so their chain does.
CollectiveModels::Answer CollectiveModels::FindAsked(
    const CollectiveLoad& load) const {
  const double us = cluster_.published ? AskedFormula().Us(load) : 0;
  if (!cluster_.published || us == Formula().Us(load)) {
    return Find(load);
  }
  const Ramp ramp = Formula().RampOf(load);
  CollectiveLoad alike = EvenLoad(load.kind, load.group, ramp.BytesFor(us));
  alike.adds_bytes = load.adds_bytes;
  Answer answer = Find(alike);
  answer.us *= std::min(1.0, us / ramp.latency_us);
  answer.log2_p10 = std::min(answer.log2_p10, constants_.log2_p10);
  answer.log2_p90 = std::max(answer.log2_p90, constants_.log2_p90);
  answer.origin = Origin::kExtrapolated;
  return answer;
}

CollectiveLoad CollectiveModels::InDomains(CollectiveLoad load) const {
  const int nodes = load.group.nodes;
  int domains = (nodes + cluster_.domain_nodes - 1) / cluster_.domain_nodes;
  while (load.group.ranks % domains != 0) {
    ++domains;
  }
  if (domains == nodes) {
    return load;
  }
  const auto remote = [&](int apart) {
    const RankGroup group{.ranks = load.group.ranks, .nodes = apart};
    return EvenLoad(load.kind, group, load.wire_bytes).remote_bytes;
  };
  const double before = remote(nodes);
  load.remote_bytes *= before > 0 ? remote(domains) / before : 0;
  load.group.nodes = domains;
  return load;
}

Estimate CollectiveModels::PriceAmongDomains(double bytes,
                                             RankGroup domains) const {
  // All ranks of a node use its adapters at once.
  const double crowd =
      hw::NicGbsPerGpu(cluster_.node, 1) /
      std::max(hw::NicGbsPerGpu(cluster_.node, domains.ranks_per_node()), 1e-3);
  return PriceInDomains(
      EvenLoad(ir::CollectiveKind::kAllToAll,
               {.ranks = domains.nodes, .nodes = domains.nodes},
               bytes * std::max(crowd, 1.0)));
}

Estimate CollectiveModels::PriceAmongNodes(double bytes, RankGroup job) const {
  const CollectiveLoad load =
      InDomains(EvenLoad(ir::CollectiveKind::kAllToAll,
                         {.ranks = job.nodes, .nodes = job.nodes}, bytes));
  return load.group.nodes == job.nodes ? PriceAmongDomains(bytes, job)
                                       : PriceInDomains(load);
}

// Both stages, one after the other: what is summed up in the first is sent in
// the second.
Estimate CollectiveModels::PriceHierarchical(const CollectiveLoad& load) const {
  const int local = load.group.ranks_per_node();
  const RankGroup node{.ranks = local, .nodes = 1};
  const double all =
      load.wire_bytes * load.group.ranks / std::max(load.group.ranks - 1, 1);
  const Estimate across = PriceAmongDomains(load.remote_bytes, load.group);
  if (local < 2) {
    return across;
  }
  Estimate both =
      PriceInDomains(EvenLoad(load.kind, node, all * (local - 1.0) / local));
  both.p10_us += across.p10_us;
  both.p50_us += across.p50_us;
  both.p90_us += across.p90_us;
  both.base.time_us += across.base.time_us;
  both.base.memory_us += across.base.memory_us;
  both.base.roofline_us += across.base.roofline_us;
  both.base.bound =
      2 * both.base.roofline_us > both.p50_us ? Bound::kLink : Bound::kLatency;
  both.origin = across.origin;
  both.model = across.model;
  return both;
}

// What is known of a domain was mostly measured, what is known of the network
// mostly is not: the formula alone may say less for a larger span. But ranks
// that also use the network do not beat those that need not. An exchange in
// stages sends other messages, over PCIe the network may be the faster way, and
// a message between two ranks has no span.
Estimate CollectiveModels::Price(const CollectiveLoad& load) const {
  const CollectiveLoad spread = InDomains(load);
  Estimate estimate = PriceInDomains(spread);
  const bool exchange = load.kind == ir::CollectiveKind::kAllToAll;
  const int ranks = std::min(load.group.ranks, cluster_.node.domain_devices);
  if (spread.group.nodes < 2 || (load.hierarchical && exchange) ||
      load.kind == ir::CollectiveKind::kSendRecv) {
    return estimate;
  }
  const hw::LinkRates links = hw::LinksOf(cluster_.node, ranks);
  if (links.direct && (links.peers_direct || !exchange)) {
    const Estimate within =
        PriceInDomains(WithGroup(load, {.ranks = ranks, .nodes = 1}));
    if (within.p50_us > estimate.p50_us) {
      estimate.p10_us = std::max(estimate.p10_us, within.p10_us);
      estimate.p50_us = within.p50_us;
      estimate.p90_us = std::max(estimate.p90_us, within.p90_us);
      estimate.base.time_us = within.base.time_us;
      estimate.origin = Origin::kExtrapolated;
      estimate.model = kNear;
    }
  }
  return estimate;
}

Estimate CollectiveModels::PriceInDomains(const CollectiveLoad& load) const {
  if (load.hierarchical && load.group.nodes > 1 &&
      load.kind == ir::CollectiveKind::kAllToAll) {
    return PriceHierarchical(load);
  }
  const Answer answer = FindAsked(load);
  const double bound = AskedFormula().BoundUs(load);
  const double us = std::max(answer.us, bound);
  return {.p10_us = std::max(us * std::exp2(answer.log2_p10), bound),
          .p50_us = us,
          .p90_us = us * std::exp2(answer.log2_p90),
          .base = {.time_us = us,
                   .compute_us = 0,
                   .memory_us = bound,
                   .roofline_us = bound,
                   .bound = 2 * bound > us ? Bound::kLink : Bound::kLatency},
          .origin = answer.origin,
          .model = answer.model};
}

std::optional<Estimate> CollectiveModels::Price(const ir::Collective& part,
                                                RankGroup group,
                                                bool hierarchical) const {
  auto load = LoadOf(part, group);
  if (!load) {
    return std::nullopt;
  }
  load->hierarchical = hierarchical;
  return Price(*load);
}

std::optional<Estimate> CollectiveModels::Price(
    std::span<const ir::Collective> parts, int nodes, bool hierarchical) const {
  auto load = LoadOf(parts, nodes);
  if (!load) {
    return std::nullopt;
  }
  load->hierarchical = hierarchical;
  return Price(*load);
}

double CollectiveModels::SharedUs(const CollectiveLoad& load,
                                  int others) const {
  CollectiveLoad slowed = load;
  const double turns = 1.0 + std::max(others, 0);
  slowed.wire_bytes *= turns;
  slowed.peer_bytes *= turns;
  slowed.remote_bytes *= turns;
  return Price(slowed).p50_us;
}

}  // namespace stepcast::cost
