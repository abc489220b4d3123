// Servers at work: a platform with every number a formula may ask for, how many
// nodes there are and how many GPUs of each take part.
#ifndef STEPCAST_HW_CLUSTER_H_
#define STEPCAST_HW_CLUSTER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hw/device.h"
#include "hw/platform.h"

namespace stepcast::hw {

/// Rates are GB/s (1e9) in one direction.
struct Cluster {
  std::string platform;
  Device device;
  int nodes = 1;
  int gpus_per_node = 1;  // That take part.
  int node_gpus = 1;      // That are there.
  /// Nodes whose GPUs reach each other by the links of one, not the network:
  /// those of a domain that take part.
  int domain_nodes = 1;
  LinkLayout layout = LinkLayout::kPcie;
  bool switch_reduction = false;
  bool network_reduction = false;
  bool rails = false;
  bool relays = true;
  std::vector<std::vector<int>> mesh_links{};
  double mesh_link_gbs = 0;
  double link_gbs = 0;  // All links of one GPU; 0 where there are none.
  std::optional<double> link_latency_us;  // Unknown: as fitted to all systems.
  std::optional<double> nic_latency_us;
  double pcie_gbs = 0;
  double gpus_per_uplink = 1;
  double nics = 0;  // 0: no network known.
  double nic_gbs = 0;
  double host_memory_gb = 0;
  double host_memory_gbs = 0;
  // Of what takes part: the share of each node that its GPUs are.
  double power_w = 0;                 // Busy.
  std::optional<double> price_usd{};  // Absent: not published.
  std::vector<std::string> collectives{};

  /// What was not published: "pcie_gbs: of the GPU's PCIe 4", ...
  std::vector<std::string> derived{};
  /// As published, where figures were replaced by others to try; null: nothing
  /// was. What was measured there is carried over by the ratio of formulas.
  std::shared_ptr<const Cluster> published{};

  int gpu_count() const { return nodes * gpus_per_node; }
  int domains() const { return nodes / domain_nodes; }
};

/// Nodes that so many GPUs take: `nodes`, but all that are needed where one is
/// asked for and the links of a node go on to others.
int NodesFor(const Platform& platform, int gpus, int nodes);

/// `gpus` in all, as many on each of `nodes` (see NodesFor). Fails where the
/// platform has not that many, they do not divide, or nodes have no network.
/// Fills what the platform does not say from its device, then by the rules of
/// cluster.cc.
Result<Cluster> MakeCluster(const Platform& platform, const Device& device,
                            int gpus, int nodes);

/// Memory of two usual sockets beside GPUs of a PCIe generation, GB/s.
double UsualHostGbs(double pcie_gbs);

/// Of servers whose network is not known: 10 Gb/s, the least they have.
inline constexpr double kLeastNicGbs = 1.25;

/// How the first `gpus` GPUs of a node, or of a domain of several, reach each
/// other.
struct NodeLinks {
  bool direct = false;       // By links of their own, not PCIe.
  bool peers_direct = true;  // The same of what each sends to each.
  /// What each GPU sends on when all pass data around in rings.
  double ring_gbs = 0;
  /// What each GPU sends to each peer when all send to all at once.
  double peer_gbs = 0;
};
NodeLinks LinksOf(const Cluster& cluster, int gpus);

/// The network's rate for each of `gpus` GPUs of a node that send at once; 0
/// where there is no network.
double NicGbsPerGpu(const Cluster& cluster, int gpus);

/// What each of `users` gets of a link that all use at once: NVLink, PCIe and
/// adapters serve packets in turn, so transfers that could use more share it
/// evenly. `wanted_gbs` is what one would take alone.
double SharedGbs(double link_gbs, int users, double wanted_gbs);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_CLUSTER_H_
