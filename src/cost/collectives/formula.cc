#include "cost/collectives/formula.h"

#include <algorithm>
#include <cmath>

#include "hw/links.h"

namespace stepcast::cost {
namespace {

using ir::CollectiveKind;

// Steps of a ring, or sends one after the other, among the ranks of a node.
double Steps(CollectiveKind kind, int ranks) {
  const double others = ranks - 1;
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBarrier:
      return 2 * others;
    case CollectiveKind::kSendRecv:
      return std::min(others, 1.0);
    case CollectiveKind::kUnknown:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return others;
  }
  return others;
}

// Steps over the network: trees for what has them, rings for the rest. Where
// switches add, they are the tree.
double NetworkSteps(CollectiveKind kind, int nodes, bool switches_add) {
  const double depth = switches_add ? 1 : std::log2(static_cast<double>(nodes));
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBarrier:
      return 2 * depth;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return depth;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return nodes - 1;
    case CollectiveKind::kUnknown:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kSendRecv:
      return 1;
  }
  return 1;
}

// From as many GPUs on, NCCL lets the switch add.
constexpr int kSwitchReductionRanks = 8;

}  // namespace

double Ramp::Us(double wire_bytes) const {
  const double transfer = wire_bytes / (bus_gbs * 1e3);
  if (!(transfer > 0)) {
    return latency_us;
  }
  return std::pow(std::pow(latency_us, blend) + std::pow(transfer, blend),
                  1 / blend);
}

double Ramp::BytesFor(double us) const {
  if (us <= latency_us) {
    return 0;
  }
  const double transfer =
      std::pow(std::pow(us, blend) - std::pow(latency_us, blend), 1 / blend);
  return transfer * bus_gbs * 1e3;
}

bool CollectiveFormula::SwitchesAdd(const CollectiveLoad& load) const {
  return cluster_.node.network_reduction && !load.adds_bytes &&
         load.kind == CollectiveKind::kAllReduce;
}

double CollectiveFormula::LatencyUs(const CollectiveLoad& load) const {
  const KindConstants& kind = constants_.of(load.kind);
  const RankGroup& group = load.group;
  const double step = cluster_.node.link_latency_us.value_or(kind.step_us);
  // A switch that adds, and copies to all, is one step from everyone: more
  // ranks than it takes to be used add none.
  const bool passes_on = load.kind == CollectiveKind::kAllToAll ||
                         load.kind == CollectiveKind::kSendRecv;
  const bool by_switch =
      cluster_.node.switch_reduction && !load.adds_bytes && !passes_on;
  const int ranks =
      by_switch ? std::min(group.ranks_per_node(), kSwitchReductionRanks)
                : group.ranks_per_node();
  double latency = kind.start_us + step * Steps(load.kind, ranks);
  if (group.nodes > 1) {
    const double network =
        cluster_.node.nic_latency_us.value_or(constants_.network_step_us);
    latency +=
        network * NetworkSteps(load.kind, group.nodes, SwitchesAdd(load));
    if (load.kind == CollectiveKind::kAllToAll) {
      latency +=
          constants_.network_peer_us * (group.ranks - group.ranks_per_node());
    }
  }
  return latency;
}

// Among the ranks of each node.
double CollectiveFormula::NodeTransferUs(const CollectiveLoad& load,
                                         bool sustained) const {
  const int ranks = load.group.ranks_per_node();
  if (ranks < 2) {
    return 0;
  }
  const KindConstants& kind = constants_.of(load.kind);
  const hw::LinkRates links = hw::LinksOf(cluster_.node, ranks);
  double share = 1;
  if (sustained) {
    const bool direct = load.kind == CollectiveKind::kAllToAll
                            ? links.direct && links.peers_direct
                            : links.direct;
    share = direct ? kind.link_share : kind.pcie_share;
    // A message goes from one to another however many take part.
    const bool pair = ranks == 2 && load.kind != CollectiveKind::kSendRecv;
    share *= pair ? kind.pair_factor : 1;
  }
  if (load.kind == CollectiveKind::kAllToAll) {
    const double local = load.wire_bytes - load.remote_bytes;
    double us = local / (links.peer_gbs * (ranks - 1));
    if (cluster_.node.layout == hw::LinkLayout::kMesh && links.direct) {
      us = std::max(us, load.peer_bytes / links.peer_gbs);
    }
    return us / share / 1e3;
  }
  const bool adds = load.kind == CollectiveKind::kAllReduce &&
                    cluster_.node.switch_reduction && !load.adds_bytes;
  double rate = links.ring_gbs * share;
  if (adds && !sustained) {
    rate *= 2;
  } else if (adds && ranks >= kSwitchReductionRanks) {
    rate *= constants_.switch_gain;
  }
  return load.wire_bytes / rate / 1e3;
}

double CollectiveFormula::TransferUs(const CollectiveLoad& load,
                                     bool sustained) const {
  const double within = NodeTransferUs(load, sustained);
  if (load.group.nodes < 2) {
    return within;
  }
  const int ranks = load.group.ranks_per_node();
  const double known = hw::NicGbsPerGpu(cluster_.node, ranks);
  if (known == 0 && !sustained) {
    return within;  // What is not known bounds nothing.
  }
  const double adapter = (known > 0 ? known : hw::kLeastNicGbs / ranks) *
                         (sustained ? constants_.network_share : 1);
  // Rings run over all adapters of a node at once; a message and an
  // all-to-all's rank have their own.
  const bool alone = load.kind == CollectiveKind::kAllToAll ||
                     load.kind == CollectiveKind::kSendRecv;
  const double bytes = load.kind == CollectiveKind::kAllToAll
                           ? load.remote_bytes
                           : load.wire_bytes;
  // Switches that add send every sum back once: half of what rings send.
  const double passes = SwitchesAdd(load) ? 0.5 : 1;
  const double across = passes * bytes / (adapter * (alone ? 1 : ranks)) / 1e3;
  // Chunks on the network overlap with others inside the node.
  return std::max(within, across);
}

Ramp CollectiveFormula::RampOf(const CollectiveLoad& load) const {
  // The rate does not depend on the bytes: any even load shows it.
  constexpr double kSample = 1e9;
  CollectiveLoad even = EvenLoad(load.kind, load.group, kSample);
  even.adds_bytes = load.adds_bytes;
  const double us = TransferUs(even, true);
  return {.latency_us = LatencyUs(load),
          .bus_gbs = us > 0 ? kSample / us / 1e3 : kSample,
          .blend = load.group.nodes > 1 ? constants_.network_blend
                                        : constants_.of(load.kind).blend};
}

double CollectiveFormula::EvenWireBytes(const CollectiveLoad& load) const {
  if (load.group.ranks < 2) {
    return 0;
  }
  return TransferUs(load, true) * RampOf(load).bus_gbs * 1e3;
}

double CollectiveFormula::BoundUs(const CollectiveLoad& load) const {
  return load.group.ranks < 2 ? 0 : TransferUs(load, false);
}

}  // namespace stepcast::cost
