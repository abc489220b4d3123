#include "hw/cluster.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace stepcast::hw {
namespace {

// Servers are sold with about twice as much host memory as the GPUs have.
constexpr double kUsualHostGbPerGpuGb = 2;

void FillLinks(const Platform& platform, const Device& device,
               Cluster& cluster) {
  const bool has_links = platform.layout == LinkLayout::kSwitch ||
                         platform.layout == LinkLayout::kPairs;
  if (platform.link_gbs) {
    cluster.link_gbs = platform.link_gbs->value;
  } else if (has_links) {
    // GPU files count both directions together.
    cluster.link_gbs = device.nvlink_gbs / 2;
    cluster.derived.emplace_back("link_gbs: half of the GPU's NVLink");
  }
  if (platform.mesh_link_gbs) {
    cluster.mesh_links = platform.mesh_links;
    cluster.mesh_link_gbs = platform.mesh_link_gbs->value;
    int links = 0;
    for (const int count : platform.mesh_links.front()) {
      links += count;
    }
    cluster.link_gbs = links * cluster.mesh_link_gbs;
  }
  if (platform.pcie_gbs) {
    cluster.pcie_gbs = platform.pcie_gbs->value;
  } else {
    cluster.pcie_gbs = device.pcie_gbs;
    cluster.derived.emplace_back("pcie_gbs: the GPU's 16 lanes");
  }
  if (platform.gpus_per_uplink) {
    cluster.gpus_per_uplink = platform.gpus_per_uplink->value;
  } else {
    cluster.derived.emplace_back("gpus_per_uplink: 1, nothing shared");
  }
}

void FillHost(const Platform& platform, const Device& device,
              Cluster& cluster) {
  if (platform.host_memory_gbs) {
    cluster.host_memory_gbs = platform.host_memory_gbs->value;
  } else {
    cluster.host_memory_gbs = UsualHostGbs(cluster.pcie_gbs);
    cluster.derived.emplace_back(
        "host_memory_gbs: two usual sockets of the PCIe generation");
  }
  if (platform.host_memory_gb) {
    cluster.host_memory_gb = platform.host_memory_gb->value;
  } else {
    cluster.host_memory_gb =
        kUsualHostGbPerGpuGb * device.dram_gb * platform.gpus_per_node->value;
    cluster.derived.emplace_back("host_memory_gb: twice that of the GPUs");
  }
}

// A node takes so many times what its GPUs do: the mean of the data sheets of
// DGX-1 (3.5 kW for 8 x 300 W), DGX A100 (6.5 for 8 x 400), DGX H100 (10.2 for
// 8 x 700) and DGX B200 (14.3 for 8 x 1000).
constexpr double kNodeOverGpus = 1.77;

void FillCosts(const Platform& platform, const Device& device,
               Cluster& cluster) {
  // Other jobs may have the rest of a node.
  const double nodes =
      static_cast<double>(cluster.gpu_count()) / cluster.node_gpus;
  if (platform.power_w) {
    cluster.power_w = nodes * platform.power_w->value;
  } else {
    cluster.power_w = nodes * kNodeOverGpus * cluster.node_gpus * device.tdp_w;
    cluster.derived.push_back(
        fmt::format("power_w: {} times its GPUs' TDP", kNodeOverGpus));
  }
  if (platform.price_usd) {
    cluster.price_usd = nodes * platform.price_usd->value;
  }
}

int NodeGpusOf(const Platform& platform) {
  return static_cast<int>(platform.gpus_per_node->value);
}

// Nodes that one domain can have.
int DomainNodesOf(const Platform& platform) {
  return DomainGpus(platform) / NodeGpusOf(platform);
}

Status CheckCounts(const Platform& platform, int gpus, int nodes) {
  const int most = NodeGpusOf(platform);
  if (gpus < 1 || nodes < 1 || gpus % nodes != 0 || gpus / nodes > most) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} GPUs on {} nodes of {}; expected as many on "
                            "each node, and at most {} there",
                            gpus, nodes, platform.name, most));
  }
  const int domain = DomainNodesOf(platform);
  const int domains = (nodes + domain - 1) / domain;
  if (nodes % domains != 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} nodes in {} domains of {} of {}; expected as "
                            "many in each",
                            nodes, domains, domain, platform.name));
  }
  if (domains > 1 && !platform.nics) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no known network, so {} nodes cannot be "
                            "joined; add 'nics' and 'nic_gbs' to its file",
                            platform.name, nodes));
  }
  return {};
}

// Two GPUs without a link between them send by way of a third. Greedily takes
// the way that leaves the fullest link least full.
//
// Returns how much one link at most carries if every GPU sends 1 to each.
class MeshLoad {
 public:
  MeshLoad(const std::vector<std::vector<int>>& links, size_t gpus)
      : links_(links), gpus_(gpus), load_(gpus * gpus) {}

  /// 0 if some GPUs are more than two links apart.
  double Largest() {
    for (size_t from = 0; from < gpus_; ++from) {
      for (size_t to = 0; to < gpus_; ++to) {
        if (links_[from][to] > 0) {
          Add(from, to);
        }
      }
    }
    for (size_t from = 0; from < gpus_; ++from) {
      for (size_t to = 0; to < gpus_; ++to) {
        if (from != to && links_[from][to] == 0 && !Relay(from, to)) {
          return 0;
        }
      }
    }
    return *std::ranges::max_element(load_);
  }

 private:
  double After(size_t from, size_t to) const {
    return load_[from * gpus_ + to] + 1.0 / links_[from][to];
  }
  void Add(size_t from, size_t to) {
    load_[from * gpus_ + to] = After(from, to);
  }

  bool Relay(size_t from, size_t to) {
    double best = std::numeric_limits<double>::infinity();
    size_t way = gpus_;
    for (size_t by = 0; by < gpus_; ++by) {
      if (links_[from][by] == 0 || links_[by][to] == 0) {
        continue;
      }
      const double load = std::max(After(from, by), After(by, to));
      if (load < best) {
        best = load;
        way = by;
      }
    }
    if (way == gpus_) {
      return false;
    }
    Add(from, way);
    Add(way, to);
    return true;
  }

  const std::vector<std::vector<int>>& links_;
  size_t gpus_;
  std::vector<double> load_;  // By sender and receiver, over their links.
};

NodeLinks PcieLinks(const Cluster& cluster, int gpus) {
  const double peers = std::max(gpus - 1, 1);
  const double sharing = std::min<double>(cluster.gpus_per_uplink, gpus);
  // All GPUs behind an uplink send through it to all that are not.
  const double crossing = sharing * std::max(gpus - sharing, 0.0);
  NodeLinks links{.direct = false,
                  .peers_direct = false,
                  .ring_gbs = cluster.pcie_gbs,
                  .peer_gbs = cluster.pcie_gbs / std::max(peers, crossing)};
  if (cluster.layout == LinkLayout::kHost) {
    // Written to host memory, and then read from there by uplinks that all
    // GPUs behind them use.
    links.ring_gbs = cluster.pcie_gbs / sharing / 2;
    links.peer_gbs = links.ring_gbs / peers;
  }
  return links;
}

// GPUs that one of the first `gpus` has no link to, at most.
int MostStrangers(const Cluster& cluster, size_t gpus) {
  int most = 0;
  for (size_t i = 0; i < gpus; ++i) {
    int strangers = 0;
    for (size_t j = 0; j < gpus; ++j) {
      strangers += i != j && cluster.mesh_links[i][j] == 0 ? 1 : 0;
    }
    most = std::max(most, strangers);
  }
  return most;
}

NodeLinks MeshLinks(const Cluster& cluster, int gpus) {
  const auto count = static_cast<size_t>(gpus);
  int fewest = std::numeric_limits<int>::max();
  for (size_t i = 0; i < count; ++i) {
    int links = 0;
    for (size_t j = 0; j < count; ++j) {
      links += cluster.mesh_links[i][j];
    }
    fewest = std::min(fewest, links);
  }
  const double load = MeshLoad(cluster.mesh_links, count).Largest();
  if (fewest == 0 || load == 0) {
    return PcieLinks(cluster, gpus);
  }
  NodeLinks links{.direct = true,
                  .ring_gbs = fewest * cluster.mesh_link_gbs,
                  .peer_gbs = cluster.mesh_link_gbs / load};
  const int strangers = cluster.relays ? 0 : MostStrangers(cluster, count);
  if (strangers > 0) {
    // All GPUs behind an uplink send through it to those without a link.
    const double sharing = std::min<double>(cluster.gpus_per_uplink, gpus);
    links.peers_direct = false;
    links.peer_gbs = cluster.pcie_gbs / (sharing * strangers);
  }
  return links;
}

}  // namespace

// Six channels of DDR4-2666, eight of DDR4-3200, eight of DDR5-4800 each.
double UsualHostGbs(double pcie_gbs) {
  if (pcie_gbs < 20) {
    return 256;
  }
  return pcie_gbs < 40 ? 409.6 : 614.4;
}

int NodesFor(const Platform& platform, int gpus, int nodes) {
  const int on_node = NodeGpusOf(platform);
  return nodes == 1 && DomainNodesOf(platform) > 1
             ? std::max(1, (gpus + on_node - 1) / on_node)
             : nodes;
}

Result<Cluster> MakeCluster(const Platform& platform, const Device& device,
                            int gpus, int nodes) {
  nodes = NodesFor(platform, gpus, nodes);
  RETURN_IF_ERROR(CheckCounts(platform, gpus, nodes));
  const int domain = DomainNodesOf(platform);
  Cluster cluster{.platform = platform.name,
                  .device = device,
                  .nodes = nodes,
                  .gpus_per_node = gpus / nodes,
                  .node_gpus = NodeGpusOf(platform),
                  .domain_nodes = nodes / ((nodes + domain - 1) / domain),
                  .layout = platform.layout,
                  .switch_reduction = platform.switch_reduction,
                  .network_reduction = platform.network_reduction,
                  .rails = platform.rails,
                  .relays = platform.relays,
                  .link_latency_us = std::nullopt,
                  .nic_latency_us = std::nullopt,
                  .collectives = platform.collectives};
  if (platform.link_latency_us) {
    cluster.link_latency_us = platform.link_latency_us->value;
  }
  if (platform.nic_latency_us) {
    cluster.nic_latency_us = platform.nic_latency_us->value;
  }
  if (platform.nics) {
    cluster.nics = platform.nics->value;
    cluster.nic_gbs = platform.nic_gbs->value;
  }
  FillLinks(platform, device, cluster);
  FillHost(platform, device, cluster);
  FillCosts(platform, device, cluster);
  return cluster;
}

NodeLinks LinksOf(const Cluster& cluster, int gpus) {
  const int peers = std::max(gpus - 1, 1);
  switch (cluster.layout) {
    case LinkLayout::kSwitch:
      return {.direct = true,
              .ring_gbs = cluster.link_gbs,
              .peer_gbs = cluster.link_gbs / peers};
    case LinkLayout::kMesh:
      return gpus < 2 ? PcieLinks(cluster, gpus) : MeshLinks(cluster, gpus);
    case LinkLayout::kPairs:
      if (gpus == 2) {
        return {.direct = true,
                .ring_gbs = cluster.link_gbs,
                .peer_gbs = cluster.link_gbs};
      }
      return PcieLinks(cluster, gpus);
    case LinkLayout::kPcie:
    case LinkLayout::kHost:
      return PcieLinks(cluster, gpus);
  }
  return {};
}

double NicGbsPerGpu(const Cluster& cluster, int gpus) {
  if (cluster.nics == 0) {
    return 0;
  }
  gpus = std::min(gpus, cluster.node_gpus);
  if (!cluster.rails) {
    return std::min(cluster.pcie_gbs,
                    cluster.nics * cluster.nic_gbs / std::max(gpus, 1));
  }
  // A GPU uses the adapters next to it: its own, or one with its neighbours.
  const double per_nic = cluster.node_gpus / cluster.nics;
  return cluster.nic_gbs / std::min<double>(per_nic, std::max(gpus, 1));
}

double SharedGbs(double link_gbs, int users, double wanted_gbs) {
  return std::min(wanted_gbs, link_gbs / std::max(users, 1));
}

}  // namespace stepcast::hw
