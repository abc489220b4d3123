#include "hw/cluster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stepcast::hw {
namespace {

Status CheckCounts(const Node& node, int gpus, int nodes) {
  if (gpus < 1 || nodes < 1 || gpus % nodes != 0 ||
      gpus / nodes > node.devices) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} GPUs on {} nodes of {}; expected as many on "
                            "each node, and at most {} there",
                            gpus, nodes, node.name, node.devices));
  }
  const int domain = node.domain_nodes();
  const int domains = (nodes + domain - 1) / domain;
  if (nodes % domains != 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} nodes in {} domains of {} of {}; expected as "
                            "many in each",
                            nodes, domains, domain, node.name));
  }
  if (domains > 1 && node.nics == 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no known network, so {} nodes cannot be "
                            "joined; add 'nics' and 'nic_gbs' to its file",
                            node.name, nodes));
  }
  return {};
}

}  // namespace

int NodesFor(const Node& node, int gpus, int nodes) {
  return nodes == 1 && node.domain_nodes() > 1
             ? std::max(1, (gpus + node.devices - 1) / node.devices)
             : nodes;
}

Result<Cluster> MakeCluster(const Node& node, const Device& device, int gpus,
                            int nodes) {
  nodes = NodesFor(node, gpus, nodes);
  RETURN_IF_ERROR(CheckCounts(node, gpus, nodes));
  const int domain = node.domain_nodes();
  Cluster cluster{.node = node,
                  .device = device,
                  .nodes = nodes,
                  .gpus_per_node = gpus / nodes,
                  .domain_nodes = nodes / ((nodes + domain - 1) / domain)};
  // Other jobs may have the rest of a node.
  const double used = static_cast<double>(gpus) / node.devices;
  cluster.power_w = used * node.power_w;
  if (node.price_usd) {
    cluster.price_usd = used * *node.price_usd;
  }
  return cluster;
}

Result<Cluster> FindCluster(std::string_view text, int gpus, int nodes) {
  ASSIGN_OR_RETURN(const Node node, FindPlatform(text));
  ASSIGN_OR_RETURN(const Device device, FindDevice(node.gpu));
  // One node stands for its domain.
  const int all = nodes == 1 ? node.domain_devices : nodes * node.devices;
  const int used = gpus == 0 ? all : gpus;
  ASSIGN_OR_RETURN(Cluster cluster, MakeCluster(node, device, used, nodes));
  if (const std::string_view name = NameBeforeFigures(text); name != text) {
    ASSIGN_OR_RETURN(const Node plain, FindPlatform(name));
    // Figures may make of it what the plain one cannot be.
    if (auto published = MakeCluster(plain, device, used, nodes)) {
      cluster.published =
          std::make_shared<const Cluster>(*std::move(published));
    }
  }
  return cluster;
}

}  // namespace stepcast::hw
