// What a collective moves: the bytes that decide its time.
#ifndef STEPCAST_COST_COLLECTIVES_LOAD_H_
#define STEPCAST_COST_COLLECTIVES_LOAD_H_

#include <optional>
#include <span>

#include "ir/shape.h"

namespace stepcast::cost {

/// Who takes part: ranks, as many on each of the nodes.
struct RankGroup {
  int ranks = 1;
  int nodes = 1;

  int ranks_per_node() const { return ranks / nodes; }
};

struct CollectiveLoad {
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  RankGroup group{};
  /// Adds up integers of a byte, which no switch does.
  bool adds_bytes = false;
  /// Of all-to-all over several nodes: in two stages. First to the rank of the
  /// sender's node that has the receiver's local rank, then among the ranks
  /// with the same local rank: a rank sends to one rank per node instead of to
  /// all.
  bool hierarchical = false;
  /// What the busiest rank sends, or receives, of others; an algorithm's
  /// detours included: an all-reduce passes almost twice the buffer.
  double wire_bytes = 0;
  /// Of all-to-all: the most that one rank sends to one other.
  double peer_bytes = 0;
  /// Of all-to-all: what the busiest rank exchanges with other nodes.
  double remote_bytes = 0;
};

/// What is moved if all ranks do as this one. Splits are counted in elements of
/// the shape's type: a payload of FP16 is half of one of FP32. Nothing if the
/// sizes are not known.
std::optional<CollectiveLoad> LoadOf(const ir::Collective& part,
                                     RankGroup group);

/// The same where the part of every rank is known, in the order of ranks: the
/// busiest one decides. Rank i is on node i / ranks_per_node.
std::optional<CollectiveLoad> LoadOf(std::span<const ir::Collective> parts,
                                     int nodes);

/// A load of the same kind and group that sends as much to each peer.
CollectiveLoad EvenLoad(ir::CollectiveKind kind, RankGroup group,
                        double wire_bytes);

/// Wire bytes for each byte of an all-reduce's buffer, of what a rank sends by
/// all-to-all (its own share counted in), of a gathered or scattered buffer, of
/// a message: how benchmarks count.
double WirePerByte(ir::CollectiveKind kind, int ranks);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_COLLECTIVES_LOAD_H_
