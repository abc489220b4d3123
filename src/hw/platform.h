// What is published about a server with GPUs: data/platforms/<name>.toml.
#ifndef STEPCAST_HW_PLATFORM_H_
#define STEPCAST_HW_PLATFORM_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hw/gpu.h"

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

/// What is known of a server, and nothing that is not. Cluster (cluster.h)
/// fills the gaps by rule. Rates are GB/s (1e9) in one direction.
struct Platform {
  std::string name;   // "dgx-a100", also the file's name.
  std::string title;  // What the vendor calls it.
  std::string gpu;    // A name of data/gpus.
  std::string notes;
  LinkLayout layout = LinkLayout::kPcie;
  /// The switch adds up what it forwards (NVLink SHARP): half the traffic of
  /// an all-reduce.
  bool switch_reduction = false;
  /// The same of the network's switches (InfiniBand SHARP).
  bool network_reduction = false;
  /// GPU i of every node reaches its peers i of the others by a network
  /// adapter of its own; otherwise adapters are shared by all GPUs of a node.
  bool rails = false;
  /// Of kMesh: GPUs without a link between them send by way of a third;
  /// otherwise through the host.
  bool relays = true;
  /// Of kMesh: the links between each pair of GPUs.
  std::vector<std::vector<int>> mesh_links{};
  /// Which measured systems of data/collectives are such servers.
  std::vector<std::string> collectives{};

  std::optional<Figure> gpus_per_node;
  /// GPUs that reach each other by such links, where they are those of several
  /// nodes (NVL72).
  std::optional<Figure> domain_gpus;
  std::optional<Figure> link_gbs;         // All links of one GPU.
  std::optional<Figure> mesh_link_gbs;    // One of kMesh.
  std::optional<Figure> link_latency_us;  // One step of an algorithm.
  std::optional<Figure> pcie_gbs;         // Of one GPU.
  std::optional<Figure> gpus_per_uplink;  // That share a way to the host.
  std::optional<Figure> nics;             // Network adapters of a node.
  std::optional<Figure> nic_gbs;          // Each.
  std::optional<Figure> nic_latency_us;   // One step over the network.
  std::optional<Figure> host_memory_gb;
  std::optional<Figure> host_memory_gbs;
  std::optional<Figure> power_w;    // Of a node, busy.
  std::optional<Figure> price_usd;  // Of a node.
};

/// GPUs of one node, or of all that links join to one domain.
int DomainGpus(const Platform& platform);

/// A figure of a Platform by its key, with the range in which it makes sense.
struct PlatformField {
  std::string_view key;
  std::optional<Figure> Platform::*member = nullptr;
  double low = 0;
  double high = 0;
  std::string_view unit;
};
std::span<const PlatformField> PlatformFields();

/// Reads a platform file. `source` is its name in messages.
Result<Platform> ParsePlatform(std::string_view text, std::string_view source);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_PLATFORM_H_
