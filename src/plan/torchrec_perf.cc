#include "plan/torchrec_perf.h"

#include <algorithm>

namespace stepcast::plan {
namespace {

// torchrec/distributed/planner/constants.py: bandwidths of a V100 and its
// server in GB/s, here as bytes a millisecond. TorchRec writes 1024^3 for a GB.
constexpr double kGibPerS = 1024.0 * 1024.0 * 1024.0 / 1e3;
constexpr double kHbmBandwidth = 897 * kGibPerS;
constexpr double kIntraHostBandwidth = 600 * kGibPerS;
constexpr double kInterHostBandwidth = 12.5 * kGibPerS;
// Backward compute is so many forward computes.
constexpr double kBackwardFactor = 2;
// Unfused updates of replicated tables: passes over their elements.
constexpr double kReplicatedPasses = 9.22;
// A kernel's block is full with so many columns; with fewer it is slower.
constexpr double kFullBlockColumns = 128;
constexpr double kHalfBlockPenalty = 1.15;
constexpr double kQuarterBlockPenalty = 1.75;

// Types of ids and numbers.
constexpr double kIdBytes = 8;
constexpr double kElementBytes = 4;

double BlockPenalty(double columns) {
  if (columns >= kFullBlockColumns) {
    return 1;
  }
  return columns >= kFullBlockColumns / 2 ? kHalfBlockPenalty
                                          : kQuarterBlockPenalty;
}

// Bytes that a part moves.
struct Moves {
  double ids = 0;
  double rows = 0;
  double vectors = 0;

  double ComputeMs(double columns) const {
    return (ids + rows * BlockPenalty(columns) + vectors) / kHbmBandwidth;
  }
};

Moves MovesOf(double bags, double pooling, double columns) {
  return {.ids = bags * pooling * kIdBytes,
          .rows = bags * pooling * columns * kElementBytes,
          .vectors = bags * columns * kElementBytes};
}

// An all-reduce of the gradients, by the number of hosts.
double AllReduceMs(double bytes, const Ranks& ranks) {
  constexpr double kMostHosts = 2;
  const double hosts = ranks.nodes;
  const double bandwidth =
      hosts > 1 ? kInterHostBandwidth : kIntraHostBandwidth;
  const double ms = bytes * std::min(hosts, kMostHosts) / bandwidth;
  return hosts > kMostHosts ? 2 * ms : ms;
}

}  // namespace

TorchrecPerf EstimateLikeTorchrec(const Problem& problem, const Table& table,
                                  const Option& option) {
  const Ranks& ranks = problem.ranks;
  const double samples =
      static_cast<double>(problem.batch) *
      (option.sharding == Sharding::kDataParallel ? 1 : ranks.count);
  const double columns =
      static_cast<double>(table.group.dim) /
      (option.sharding == Sharding::kColumnWise ? option.shards : 1);
  const bool rows_sharded = option.sharding == Sharding::kRowWise ||
                            option.sharding == Sharding::kTableRowWise;
  const Moves moves =
      MovesOf(samples, table.group.pooling / (rows_sharded ? option.shards : 1),
              columns);
  const double compute = moves.ComputeMs(columns);
  TorchrecPerf perf{.forward_compute = compute,
                    .backward_compute = compute * kBackwardFactor};
  const bool many_hosts = ranks.nodes > 1;
  switch (option.sharding) {
    case Sharding::kTableWise:
    case Sharding::kColumnWise:
    case Sharding::kRowWise:
      perf.forward_comms = moves.vectors / (many_hosts ? kInterHostBandwidth
                                                       : kIntraHostBandwidth);
      break;
    case Sharding::kTableRowWise:
      perf.forward_comms = moves.vectors / kIntraHostBandwidth;
      if (many_hosts) {
        perf.forward_comms += moves.vectors / ranks.nodes / kInterHostBandwidth;
      }
      break;
    case Sharding::kDataParallel: {
      const double bytes =
          static_cast<double>(table.group.rows) * columns * kElementBytes;
      perf.backward_compute += bytes * kReplicatedPasses / kHbmBandwidth;
      perf.backward_comms = AllReduceMs(bytes, ranks);
      return perf;
    }
  }
  perf.backward_comms = perf.forward_comms;
  if (rows_sharded) {  // Gradients are copied into the order of rows.
    perf.backward_compute += 2 * moves.vectors / kHbmBandwidth;
  }
  return perf;
}

}  // namespace stepcast::plan
