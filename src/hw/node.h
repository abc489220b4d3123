// A server: its GPUs or, where it has none, its processors, the links between
// them, memory, network adapters, power and price. What is published of it
// (data/nodes/<name>.toml), and every number that a formula may ask for.
#ifndef STEPCAST_HW_NODE_H_
#define STEPCAST_HW_NODE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hw/device.h"
#include "hw/figures.h"

namespace stepcast::hw {

/// How the GPUs of a node reach each other.
enum class LinkLayout {
  kSwitch,  // Every GPU reaches every other at its full rate (NVSwitch).
  kMesh,    // Single links between some of the pairs (hybrid cube mesh).
  kPairs,   // Bridges between neighbours 0-1, 2-3, ...; PCIe beyond.
  kPcie,    // PCIe alone.
  kHost,    // Nothing direct: what is sent stops in host memory.
};
/// "switch", as in the files.
std::string_view Name(LinkLayout layout);
std::optional<LinkLayout> LinkLayoutFromName(std::string_view name);

/// Rates are GB/s (1e9) in one direction.
struct Node {
  std::string name{};   // "dgx-a100", also the file's name.
  std::string title{};  // What the vendor calls it.
  std::string gpu{};    // Of `stepcast list gpus`; empty: processors compute.
  std::string notes{};
  Figures figures{};  // What is published.
  LinkLayout layout = LinkLayout::kPcie;
  /// The switch adds up what it forwards (NVLink SHARP): half the traffic of
  /// an all-reduce.
  bool switch_reduction = false;
  /// The same of the network's switches (InfiniBand SHARP).
  bool network_reduction = false;
  /// GPU i of every node reaches its peers i of the others by a network
  /// adapter of its own; otherwise adapters are shared by all GPUs of a node.
  bool rails = false;
  /// Of kMesh: GPUs without a link between them send through a third;
  /// otherwise through the host.
  bool relays = true;
  /// Of kMesh: the links between each pair of GPUs.
  std::vector<std::vector<int>> mesh_links{};
  /// Which measured systems of data/collectives are such servers.
  std::vector<std::string> collectives{};

  int devices = 1;  // GPUs, or sockets where there are none.
  /// Those that links join: of this node, or of several (NVL72).
  int domain_devices = 1;
  double link_gbs = 0;       // All links of one GPU; 0 where there are none.
  double mesh_link_gbs = 0;  // One of kMesh.
  std::optional<double> link_latency_us{};  // Unknown: as fitted to all.
  std::optional<double> nic_latency_us{};
  double pcie_gbs = 0;         // Of one GPU.
  double gpus_per_uplink = 1;  // That share a way to the host.
  double nics = 0;             // 0: no network known.
  double nic_gbs = 0;          // Each.
  double memory_gb = 0;        // Of the host.
  double memory_gbs = 0;
  double power_w = 0;                 // Busy.
  std::optional<double> price_usd{};  // Absent: not published.
  // Of the processors, where they compute.
  int sockets = 1;
  int cores_per_socket = 1;
  double turbo_ghz = 0;   // One core alone.
  double vector_ghz = 0;  // All cores, vector units busy.
  double fp32_flops_per_clock = 0;
  double bf16_flops_per_clock = 0;  // Of FP32 where there is no such unit.
  double cache_mb = 0;              // Per socket.
  double socket_link_gbs = 0;       // 0: one socket.

  /// What was not published: "pcie_gbs: the GPU's 16 lanes", ...
  std::vector<std::string> derived{};

  int cores() const { return sockets * cores_per_socket; }
  /// Nodes that one domain can have.
  int domain_nodes() const { return domain_devices / devices; }
};

/// Read a file of a node with GPUs, or of one without; only what is published
/// is set. `source` is its name in messages.
Result<Node> ParsePlatform(std::string_view text, std::string_view source);
Result<Node> ParseServer(std::string_view text, std::string_view source);

/// Sets every number: as published, from its GPU (or null), by the rules of
/// node.cc.
Node MakeNode(Node node, const Device* gpu);

/// A node by what the user calls it: a built-in name ("dgx-a100";
/// "2s-epyc-7742" of those without GPUs) or a path ending in .toml. An unknown
/// name lists the known ones. Figures that follow replace its own:
/// "zion@host_memory_gbs=500,nic_gbs=6".
Result<Node> FindPlatform(std::string_view text);
Result<Node> FindServer(std::string_view text);
/// Several, in the order given.
Result<std::vector<Node>> FindPlatforms(std::span<const std::string> texts);

/// The built-in ones, by name.
Result<std::vector<Node>> LoadPlatforms();
Result<std::vector<Node>> LoadServers();

/// The GPU as a platform connects it: "h100-sxm-80gb@pcie_gbs=30" where that
/// rate of the platform is asked for, else as it is.
Result<std::string> GpuOn(std::string_view gpu, std::string_view platform);

/// The platform with the links of its GPU, where their rate is asked for:
/// "hgx-h100@link_gbs=900" for "h100-sxm-80gb@nvlink_gbs=1800".
Result<std::string> PlatformWith(std::string_view platform,
                                 std::string_view gpu);

/// Memory bandwidth of the two sockets that GPUs of a PCIe generation usually
/// come with, GB/s.
double UsualHostGbs(double pcie_gbs);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_NODE_H_
