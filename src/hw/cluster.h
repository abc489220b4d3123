// Servers active: a node, how many of it there are and how many GPUs of each
// take part, and the domains that links make of them.
#ifndef STEPCAST_HW_CLUSTER_H_
#define STEPCAST_HW_CLUSTER_H_

#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "hw/device.h"
#include "hw/node.h"

namespace stepcast::hw {

struct Cluster {
  Node node{};
  Device device{};
  int nodes = 1;
  int gpus_per_node = 1;  // That take part; processes where there are none.
  /// Nodes whose GPUs reach each other by the links of one, not the network:
  /// those of a domain that take part.
  int domain_nodes = 1;
  // Of what takes part: the share of each node that its GPUs are.
  double power_w = 0;                 // Busy.
  std::optional<double> price_usd{};  // Absent: not published.
  /// As published, where figures were replaced by others to try; null: nothing
  /// was. What was measured there is carried over by the ratio of formulas.
  std::shared_ptr<const Cluster> published{};

  int gpu_count() const { return nodes * gpus_per_node; }
  int domains() const { return nodes / domain_nodes; }
};

/// Nodes that so many GPUs take: `nodes`, but all that are needed where one is
/// asked for and the links of a node go on to others.
int NodesFor(const Node& node, int gpus, int nodes);

/// `gpus` in all, as many on each of `nodes` (see NodesFor). Fails where the
/// node has not that many, they do not divide, or there is no network.
Result<Cluster> MakeCluster(const Node& node, const Device& device, int gpus,
                            int nodes);

/// Those of a platform by its name, with the GPU that it names (see
/// FindPlatform). 0 GPUs: all of every node, or of its domain.
Result<Cluster> FindCluster(std::string_view text, int gpus, int nodes);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_CLUSTER_H_
