#include "cost/collectives/load.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stepcast::cost {
namespace {

using ir::CollectiveKind;

// What a barrier sends: one element, as frameworks do.
constexpr double kBarrierBytes = 4;

bool AddsBytes(const ir::Collective& part) {
  const bool adds = part.kind == CollectiveKind::kAllReduce ||
                    part.kind == CollectiveKind::kReduceScatter ||
                    part.kind == CollectiveKind::kReduce;
  return adds && ir::SizeOf(part.dtype) == 1;
}

// What an all-to-all's splits add up to, in elements.
struct SplitSums {
  int64_t others = 0;  // All but the rank's own.
  int64_t remote = 0;  // Of ranks on other nodes.
  int64_t largest = 0;
};

SplitSums Sum(std::span<const int64_t> splits, size_t rank,
              size_t ranks_per_node) {
  SplitSums sums;
  for (size_t peer = 0; peer < splits.size(); ++peer) {
    if (peer == rank) {
      continue;
    }
    sums.others += splits[peer];
    sums.largest = std::max(sums.largest, splits[peer]);
    if (peer / ranks_per_node != rank / ranks_per_node) {
      sums.remote += splits[peer];
    }
  }
  return sums;
}

void Raise(CollectiveLoad& load, const SplitSums& sums, double size) {
  load.wire_bytes =
      std::max(load.wire_bytes, static_cast<double>(sums.others) * size);
  load.peer_bytes =
      std::max(load.peer_bytes, static_cast<double>(sums.largest) * size);
  load.remote_bytes =
      std::max(load.remote_bytes, static_cast<double>(sums.remote) * size);
}

// The splits of one rank do not say which of them is its own: even parts of
// them stand for it and for those on other nodes.
CollectiveLoad OfOneRank(const ir::Collective& part, RankGroup group) {
  const auto size = static_cast<double>(ir::SizeOf(part.dtype));
  const double ranks = group.ranks;
  double bytes = 0;
  double peer = 0;
  for (const auto* splits : {&part.send_splits, &part.receive_splits}) {
    int64_t sum = 0;
    for (const int64_t split : *splits) {
      sum += split;
      peer = std::max(peer, static_cast<double>(split) * size);
    }
    bytes = std::max(bytes, static_cast<double>(sum) * size);
  }
  CollectiveLoad load =
      EvenLoad(CollectiveKind::kAllToAll, group, bytes * (ranks - 1) / ranks);
  load.peer_bytes = peer;
  return load;
}

bool HasSplits(const ir::Collective& part) {
  return !(part.send_splits.empty() && part.receive_splits.empty()) &&
         ir::SizeOf(part.dtype) > 0;
}

}  // namespace

double WirePerByte(CollectiveKind kind, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * others;
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return others;
    case CollectiveKind::kUnknown:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kSendRecv:
    case CollectiveKind::kBarrier:
      return 1;
  }
  return 1;
}

CollectiveLoad EvenLoad(CollectiveKind kind, RankGroup group,
                        double wire_bytes) {
  CollectiveLoad load{.kind = kind, .group = group, .wire_bytes = wire_bytes};
  if (kind == CollectiveKind::kAllToAll && group.ranks > 1) {
    load.peer_bytes = wire_bytes / (group.ranks - 1);
    load.remote_bytes =
        load.peer_bytes * (group.ranks - group.ranks_per_node());
  }
  return load;
}

std::optional<CollectiveLoad> LoadOf(const ir::Collective& part,
                                     RankGroup group) {
  if (part.kind == CollectiveKind::kUnknown || group.ranks < 1) {
    return std::nullopt;
  }
  if (part.kind == CollectiveKind::kBarrier) {
    return EvenLoad(part.kind, group, kBarrierBytes);
  }
  if (part.kind == CollectiveKind::kAllToAll && HasSplits(part)) {
    return OfOneRank(part, group);
  }
  if (part.bytes.count <= 0) {
    return std::nullopt;
  }
  auto bytes = static_cast<double>(part.bytes.count);
  if (part.kind == CollectiveKind::kAllGather) {
    bytes *= group.ranks;  // Each rank's input is a part of the whole.
  }
  CollectiveLoad load =
      EvenLoad(part.kind, group, bytes * WirePerByte(part.kind, group.ranks));
  load.adds_bytes = AddsBytes(part);
  return load;
}

std::optional<CollectiveLoad> LoadOf(std::span<const ir::Collective> parts,
                                     int nodes) {
  if (parts.empty()) {
    return std::nullopt;
  }
  const RankGroup group{.ranks = static_cast<int>(parts.size()),
                        .nodes = nodes};
  const size_t ranks = parts.size();
  const bool exact =
      parts.front().kind == CollectiveKind::kAllToAll &&
      std::ranges::all_of(parts, [&](const ir::Collective& part) {
        return HasSplits(part) && part.send_splits.size() == ranks;
      });
  if (!exact) {
    std::optional<CollectiveLoad> largest;
    for (const ir::Collective& part : parts) {
      const auto load = LoadOf(part, group);
      if (load && (!largest || load->wire_bytes > largest->wire_bytes)) {
        largest = load;
      }
    }
    return largest;
  }
  CollectiveLoad load{.kind = CollectiveKind::kAllToAll, .group = group};
  const auto per_node =
      static_cast<size_t>(std::max(group.ranks_per_node(), 1));
  const auto size = static_cast<double>(ir::SizeOf(parts.front().dtype));
  for (size_t rank = 0; rank < ranks; ++rank) {
    Raise(load, Sum(parts[rank].send_splits, rank, per_node), size);
    std::vector<int64_t> received;
    for (const ir::Collective& part : parts) {
      received.push_back(part.send_splits[rank]);
    }
    Raise(load, Sum(received, rank, per_node), size);
  }
  return load;
}

}  // namespace stepcast::cost
