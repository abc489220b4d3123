#include "engine/share_links.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <variant>

#include "cost/collectives/load.h"
#include "hw/cluster.h"
#include "hw/links.h"

namespace stepcast::engine {
namespace {

constexpr size_t kLinkCount = 4;

// A transfer under way.
struct Running {
  size_t index = 0;
  double left_us = 0;  // If it were alone from here on.
};

// How much longer than alone each microsecond of a transfer takes.
double SlowdownOf(const Transfer& transfer,
                  const std::array<double, kLinkCount>& wanted) {
  double slowdown = 1;
  for (size_t link = 0; link < kLinkCount; ++link) {
    if ((transfer.links >> link & 1) != 0) {
      slowdown = std::max(slowdown, wanted[link]);
    }
  }
  return slowdown;
}

std::array<double, kLinkCount> WantedBy(const std::vector<Running>& running,
                                        std::span<const Transfer> transfers) {
  std::array<double, kLinkCount> wanted{};
  for (const Running& one : running) {
    const Transfer& transfer = transfers[one.index];
    for (size_t link = 0; link < kLinkCount; ++link) {
      wanted[link] += (transfer.links >> link & 1) != 0 ? transfer.share : 0;
    }
  }
  return wanted;
}

// Over what a collective of so many ranks goes.
uint8_t LinksOf(const hw::Cluster& cluster, const ir::Collective& part) {
  const bool among_nodes =
      cluster.domains() > 1 && part.group_size != cluster.gpus_per_node;
  if (among_nodes) {
    return kNetwork;
  }
  const hw::LinkRates links = hw::LinksOf(cluster.node, cluster.gpus_per_node);
  const bool direct =
      part.kind == ir::CollectiveKind::kAllToAll ? links.peers_direct : true;
  return links.direct && direct ? kFabric : kToDevice | kFromDevice;
}

// Which works are transfers, and what they ask of their links.
class Linker {
 public:
  Linker(const ir::GraphData& data, const PriceOptions& options)
      : data_(data), options_(options) {}

  std::optional<Transfer> Find(ir::WorkId id, const WorkPrice& alone) const {
    const ir::KernelShape& shape = data_.shapes[data_.works[id].shape];
    if (const auto* part = std::get_if<ir::Collective>(&shape)) {
      return OfCollective(*part, alone);
    }
    if (const auto* copy = std::get_if<ir::Copy>(&shape)) {
      return OfCopy(*copy, alone);
    }
    return std::nullopt;
  }

 private:
  const hw::Cluster& cluster() const {
    return options_.collectives.models->cluster();
  }

  // Twice the bytes take longer by the part of the time that moves them.
  std::optional<Transfer> OfCollective(const ir::Collective& part,
                                       const WorkPrice& alone) const {
    if (part.kind == ir::CollectiveKind::kSendRecv) {
      return std::nullopt;  // Of the host (PriceHostWorks).
    }
    const CollectivePricing& pricing = options_.collectives;
    const auto load =
        cost::LoadOf(part, {.ranks = pricing.ranks, .nodes = pricing.nodes});
    if (!load || alone.p50_us <= 0) {
      return std::nullopt;
    }
    const double once = pricing.models->SharedUs(*load, 0);
    const double twice = pricing.models->SharedUs(*load, 1);
    return Transfer{.alone_us = alone.p50_us,
                    .links = LinksOf(cluster(), part),
                    .share = std::clamp(twice / once - 1, 0.0, 1.0)};
  }

  std::optional<Transfer> OfCopy(const ir::Copy& copy,
                                 const WorkPrice& alone) const {
    const bool to_device = copy.kind == ir::CopyKind::kHostToDevice;
    if ((!to_device && copy.kind != ir::CopyKind::kDeviceToHost) ||
        alone.p50_us <= 0 || cluster().node.pcie_gbs <= 0) {
      return std::nullopt;
    }
    const double moving_us =
        static_cast<double>(copy.bytes.count) / (cluster().node.pcie_gbs * 1e3);
    return Transfer{.alone_us = alone.p50_us,
                    .links = to_device ? kToDevice : kFromDevice,
                    .share = std::min(moving_us / alone.p50_us, 1.0)};
  }

  const ir::GraphData& data_;
  const PriceOptions& options_;
};

}  // namespace

std::vector<double> ShareLinks(std::span<const Transfer> transfers) {
  std::vector<size_t> by_start(transfers.size());
  for (size_t i = 0; i < by_start.size(); ++i) {
    by_start[i] = i;
  }
  std::ranges::stable_sort(by_start, {},
                           [&](size_t i) { return transfers[i].start_us; });
  std::vector<double> taken(transfers.size());
  std::vector<Running> running;
  size_t next = 0;
  double now = 0;
  while (next < by_start.size() || !running.empty()) {
    const auto wanted = WantedBy(running, transfers);
    double until = next < by_start.size()
                       ? transfers[by_start[next]].start_us
                       : std::numeric_limits<double>::infinity();
    const Running* first = nullptr;
    for (const Running& one : running) {
      const double end =
          now + one.left_us * SlowdownOf(transfers[one.index], wanted);
      if (end <= until) {
        until = end;
        first = &one;
      }
    }
    const size_t ended = first != nullptr ? first->index : transfers.size();
    for (Running& one : running) {
      one.left_us -= (until - now) / SlowdownOf(transfers[one.index], wanted);
    }
    now = until;
    if (ended < transfers.size()) {
      taken[ended] =
          std::max(now - transfers[ended].start_us, transfers[ended].alone_us);
      std::erase_if(running,
                    [&](const Running& one) { return one.index == ended; });
    } else {
      const size_t begun = by_start[next++];
      running.push_back({begun, transfers[begun].alone_us});
    }
  }
  return taken;
}

bool ShareLinks(const ir::GraphData& data, const PriceOptions& options,
                const PricedWorks& alone, const lower::Lowered& lowered,
                const sim::Schedule& schedule, PricedWorks& prices) {
  const Linker linker(data, options);
  std::vector<std::vector<Transfer>> transfers(data.ranks.size());
  std::vector<std::vector<ir::WorkId>> works(data.ranks.size());
  for (const ir::WorkId id : data.works.ids()) {
    if (auto transfer = linker.Find(id, alone.prices[id])) {
      const uint32_t rank = data.streams[data.works[id].stream].rank.value;
      transfer->start_us =
          ToMicroseconds(schedule.placements[lowered.work_tasks[id]].work);
      transfers[rank].push_back(*transfer);
      works[rank].push_back(id);
    }
  }
  IdVector<ir::WorkId, double> longer(data.works.size());
  for (size_t rank = 0; rank < transfers.size(); ++rank) {
    const std::vector<double> taken = ShareLinks(transfers[rank]);
    for (size_t i = 0; i < taken.size(); ++i) {
      longer[works[rank][i]] = taken[i] - transfers[rank][i].alone_us;
    }
  }
  for (const ir::MatchedCollective& collective : data.collectives) {
    double most = 0;
    for (const ir::WorkId id : collective.works) {
      most = std::max(most, longer[id]);
    }
    for (const ir::WorkId id : collective.works) {
      longer[id] = most;
    }
  }
  bool changed = false;
  for (const ir::WorkId id : data.works.ids()) {
    WorkPrice price = alone.prices[id];
    // Whole nanoseconds, as tasks have: less is no change.
    const double extra = std::round(longer[id] * 1e3) / 1e3;
    price.p10_us += extra;
    price.p50_us += extra;
    price.p90_us += extra;
    changed = changed || price.p50_us != prices.prices[id].p50_us;
    prices.prices[id] = price;
  }
  return changed;
}

}  // namespace stepcast::engine
