#include "hw/links.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace stepcast::hw {
namespace {

// Two GPUs without a link between them send through a third. Greedily takes
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

LinkRates PcieLinks(const Node& node, int gpus) {
  const double peers = std::max(gpus - 1, 1);
  const double sharing = std::min<double>(node.gpus_per_uplink, gpus);
  // All GPUs behind an uplink send through it to all that are not.
  const double crossing = sharing * std::max(gpus - sharing, 0.0);
  LinkRates links{.direct = false,
                  .peers_direct = false,
                  .ring_gbs = node.pcie_gbs,
                  .peer_gbs = node.pcie_gbs / std::max(peers, crossing)};
  if (node.layout == LinkLayout::kHost) {
    // Written to host memory, and then read from there by uplinks that all
    // GPUs after them use.
    links.ring_gbs = node.pcie_gbs / sharing / 2;
    links.peer_gbs = links.ring_gbs / peers;
  }
  return links;
}

// GPUs that one of the first `gpus` has no link to, at most.
int MostStrangers(const Node& node, size_t gpus) {
  int most = 0;
  for (size_t i = 0; i < gpus; ++i) {
    int strangers = 0;
    for (size_t j = 0; j < gpus; ++j) {
      strangers += i != j && node.mesh_links[i][j] == 0 ? 1 : 0;
    }
    most = std::max(most, strangers);
  }
  return most;
}

LinkRates MeshLinks(const Node& node, int gpus) {
  const auto count = static_cast<size_t>(gpus);
  int fewest = std::numeric_limits<int>::max();
  for (size_t i = 0; i < count; ++i) {
    int links = 0;
    for (size_t j = 0; j < count; ++j) {
      links += node.mesh_links[i][j];
    }
    fewest = std::min(fewest, links);
  }
  const double load = MeshLoad(node.mesh_links, count).Largest();
  if (fewest == 0 || load == 0) {
    return PcieLinks(node, gpus);
  }
  LinkRates links{.direct = true,
                  .ring_gbs = fewest * node.mesh_link_gbs,
                  .peer_gbs = node.mesh_link_gbs / load};
  const int strangers = node.relays ? 0 : MostStrangers(node, count);
  if (strangers > 0) {
    // All GPUs behind an uplink send through it to those without a link.
    const double sharing = std::min<double>(node.gpus_per_uplink, gpus);
    links.peers_direct = false;
    links.peer_gbs = node.pcie_gbs / (sharing * strangers);
  }
  return links;
}

}  // namespace

LinkRates LinksOf(const Node& node, int gpus) {
  const int peers = std::max(gpus - 1, 1);
  switch (node.layout) {
    case LinkLayout::kSwitch:
      return {.direct = true,
              .ring_gbs = node.link_gbs,
              .peer_gbs = node.link_gbs / peers};
    case LinkLayout::kMesh:
      return gpus < 2 ? PcieLinks(node, gpus) : MeshLinks(node, gpus);
    case LinkLayout::kPairs:
      if (gpus == 2) {
        return {.direct = true,
                .ring_gbs = node.link_gbs,
                .peer_gbs = node.link_gbs};
      }
      return PcieLinks(node, gpus);
    case LinkLayout::kPcie:
    case LinkLayout::kHost:
      return PcieLinks(node, gpus);
  }
  return {};
}

double NicGbsPerGpu(const Node& node, int gpus) {
  if (node.nics == 0) {
    return 0;
  }
  gpus = std::min(gpus, node.devices);
  if (!node.rails) {
    return std::min(node.pcie_gbs,
                    node.nics * node.nic_gbs / std::max(gpus, 1));
  }
  // A GPU uses the adapters next to it: its own, or one with its neighbours.
  const double per_nic = node.devices / node.nics;
  return node.nic_gbs / std::min<double>(per_nic, std::max(gpus, 1));
}

double SharedGbs(double link_gbs, int users, double wanted_gbs) {
  return std::min(wanted_gbs, link_gbs / std::max(users, 1));
}

}  // namespace stepcast::hw
