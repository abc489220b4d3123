// The constants of the collectives' formula, which all systems share.
#ifndef STEPCAST_COST_COLLECTIVES_CONSTANTS_H_
#define STEPCAST_COST_COLLECTIVES_CONSTANTS_H_

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// Of one kind of collective.
struct KindConstants {
  double start_us = 7;      // Launch, and finding each other.
  double step_us = 1;       // One step of the algorithm over a link.
  double link_share = 0.8;  // Of a GPU's links that large messages reach.
  double pair_factor = 1;   // The same between two GPUs, over that.
  double pcie_share = 0.5;
  /// How time before and time of the transfer add up: (a^p + b^p)^(1/p). 1 is
  /// one after the other, more overlaps them, less is slower than either: the
  /// steps of a ring fill a pipeline, at the best chunk size 2 sqrt(ab) more.
  double blend = 0.6;
};

struct CollectiveConstants {
  KindConstants all_reduce{};
  KindConstants all_to_all{};
  KindConstants all_gather{};
  KindConstants reduce_scatter{};
  KindConstants send_recv{};
  /// All-reduce among a node's eight GPUs behind a switch that adds.
  double switch_gain = 1.4;
  double network_share = 0.9;   // Of an adapter's rate.
  double network_step_us = 15;  // One step over the network.
  double network_peer_us = 5;   // An all-to-all's each peer on other nodes.
  double network_blend = 0.8;
  // How far the formula is off on systems without data, log2 of measured over
  // estimated.
  double log2_p10 = -0.5;
  double log2_p90 = 0.5;

  const KindConstants& of(ir::CollectiveKind kind) const;
};

/// A constant by its key ("all_reduce.start_us", "network.share"), and the
/// range within which it is sought.
struct CollectiveConstantInfo {
  std::string_view key;
  double* (*place)(CollectiveConstants&) = nullptr;
  double low = 0;
  double high = 0;
  std::string_view meaning;
};
std::span<const CollectiveConstantInfo> CollectiveConstantInfos();

Result<CollectiveConstants> ParseCollectiveConstants(std::string_view text,
                                                     std::string_view source);
std::string CollectiveConstantsText(const CollectiveConstants& constants,
                                    std::string_view provenance);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_COLLECTIVES_CONSTANTS_H_
