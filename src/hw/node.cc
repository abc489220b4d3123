#include "hw/node.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/files/catalog.h"
#include "base/files/toml_read.h"
#include "base/text/join.h"
#include "hw/cpu_device.h"

namespace stepcast {

std::span<const EmbeddedFile> NodeFileTexts();

namespace hw {
namespace {

constexpr std::array<std::pair<LinkLayout, std::string_view>, 5> kLayouts = {
    {{LinkLayout::kSwitch, "switch"},
     {LinkLayout::kMesh, "mesh"},
     {LinkLayout::kPairs, "pairs"},
     {LinkLayout::kPcie, "pcie"},
     {LinkLayout::kHost, "host"}}};

// No pair of GPUs has more links than this: NVLink 4 has 18 a GPU.
constexpr int64_t kMostLinks = 64;

Result<bool> GetFlag(const toml::table& table, std::string_view key,
                     bool left_out = false) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return left_out;
  }
  if (!node->is_boolean()) {
    return FailAt(*node, fmt::format("'{}' must be true or false", key));
  }
  return node->value_or(false);
}

Result<std::vector<int>> ReadMeshRow(const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) {
    return FailAt(node, "'mesh_links' must be a list of lists of numbers");
  }
  std::vector<int> row;
  for (const toml::node& cell : *array) {
    const auto links = cell.value<int64_t>();
    if (!links || *links < 0 || *links > kMostLinks) {
      return FailAt(cell, fmt::format("a pair has a number of links from 0 to "
                                      "{}",
                                      kMostLinks));
    }
    row.push_back(static_cast<int>(*links));
  }
  return row;
}

Status CheckMesh(const toml::node& node, const Node& platform) {
  const auto& links = platform.mesh_links;
  const auto gpus =
      static_cast<size_t>(*ValueOf(platform.figures, "gpus_per_node"));
  if (links.size() != gpus) {
    return FailAt(node, fmt::format("'mesh_links' has {} rows; expected one "
                                    "for each of {} GPUs",
                                    links.size(), gpus));
  }
  for (size_t i = 0; i < gpus; ++i) {
    if (links[i].size() != gpus || links[i][i] != 0) {
      return FailAt(node, fmt::format("row {} of 'mesh_links' must have {} "
                                      "numbers, with 0 at its own place",
                                      i, gpus));
    }
  }
  for (size_t i = 0; i < gpus; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (links[i][j] != links[j][i]) {
        return FailAt(node, fmt::format("GPUs {} and {} have {} links one way "
                                        "and {} the other",
                                        j, i, links[j][i], links[i][j]));
      }
    }
  }
  return {};
}

Status ReadMesh(const toml::table& table, Node& platform) {
  const toml::node* node = table.get("mesh_links");
  const bool is_mesh = platform.layout == LinkLayout::kMesh;
  if ((node != nullptr) != is_mesh ||
      platform.figures.contains("mesh_link_gbs") != is_mesh) {
    return FailAt(table,
                  "a mesh, and nothing else, has 'mesh_links' and "
                  "'mesh_link_gbs'");
  }
  if (node == nullptr) {
    return {};
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    return FailAt(*node, "'mesh_links' must be a list of lists of numbers");
  }
  for (const toml::node& row : *array) {
    ASSIGN_OR_RETURN(std::vector<int> links, ReadMeshRow(row));
    platform.mesh_links.push_back(std::move(links));
  }
  return CheckMesh(*node, platform);
}

Status ReadPlatformNames(const toml::table& table, Node& platform) {
  ASSIGN_OR_RETURN(platform.name, GetString(table, "name"));
  ASSIGN_OR_RETURN(platform.title, GetString(table, "title"));
  ASSIGN_OR_RETURN(platform.gpu, GetString(table, "gpu"));
  // A file of the user is named as seen from this one.
  if (NameBeforeFigures(platform.gpu).ends_with(".toml") &&
      table.source().path) {
    platform.gpu = (std::filesystem::path(*table.source().path).parent_path() /
                    platform.gpu)
                       .string();
  }
  ASSIGN_OR_RETURN(platform.notes, GetOptionalString(table, "notes"));
  if (table.contains("collectives")) {
    ASSIGN_OR_RETURN(platform.collectives, GetStrings(table, "collectives"));
  }
  ASSIGN_OR_RETURN(const std::string layout, GetString(table, "layout"));
  const auto known = LinkLayoutFromName(layout);
  if (!known) {
    std::vector<std::string_view> names;
    names.reserve(kLayouts.size());
    for (const auto& [value, name] : kLayouts) {
      names.push_back(name);
    }
    return FailAt(*table.get("layout"),
                  fmt::format("unknown layout '{}'; expected one of: {}",
                              layout, Join(names, ", ")));
  }
  platform.layout = *known;
  ASSIGN_OR_RETURN(platform.switch_reduction,
                   GetFlag(table, "switch_reduction"));
  ASSIGN_OR_RETURN(platform.network_reduction,
                   GetFlag(table, "network_reduction"));
  ASSIGN_OR_RETURN(platform.relays, GetFlag(table, "relays", true));
  ASSIGN_OR_RETURN(platform.rails, GetFlag(table, "rails"));
  return {};
}

// What no rule can estimate.
constexpr std::array<std::string_view, 6> kRequired = {
    "sockets",   "cores_per_socket", "base_ghz", "fp32_flops_per_clock",
    "memory_gb", "memory_gbs"};

// Servers are sold with about twice as much host memory as the GPUs have.
constexpr double kUsualHostGbPerGpuGb = 2;
// A node takes so many times what its GPUs do: the mean of the data sheets of
// DGX-1 (3.5 kW for 8 x 300 W), DGX A100 (6.5 for 8 x 400), DGX H100 (10.2 for
// 8 x 700) and DGX B200 (14.3 for 8 x 1000).
constexpr double kNodeOverGpus = 1.77;
// Two units of eight lanes, a socket's usual cache a core and watts a core, for
// figures that nobody published.
constexpr double kCacheMbPerCore = 1.375;
constexpr double kWattsPerCore = 6;
// A server takes so many times what its processors do: memory, fans, adapters
// and the power supply's loss. The dual-socket server of Acun et al. (480 W by
// their ratio to Big Basin, from memory) is 1.9 of 2 x 125 W; TDPs of 200 W
// and more, with the same memory and fans, come to less.
constexpr double kServerOverProcessors = 1.5;
// Of one core that runs alone over the base clock, where nobody says.
constexpr double kTurboOverBase = 1.5;
// Adapters between CPU servers are Ethernet's unless said otherwise.
constexpr double kUsualNicGbs = 3.125;

// Answers one figure after another and notes which were not published.
class NodeFiller {
 public:
  explicit NodeFiller(Node& node) : node_(node) {}

  std::optional<double> Known(std::string_view key) const {
    return ValueOf(node_.figures, key);
  }
  double Get(std::string_view key, double usual, std::string_view rule) {
    if (const auto known = Known(key)) {
      return *known;
    }
    node_.derived.push_back(fmt::format("{}: {}", key, rule));
    return usual;
  }

 private:
  Node& node_;
};

void FillLinks(const Device& gpu, Node& node) {
  NodeFiller fill(node);
  node.link_latency_us = fill.Known("link_latency_us");
  node.nic_latency_us = fill.Known("nic_latency_us");
  if (node.layout == LinkLayout::kSwitch || node.layout == LinkLayout::kPairs) {
    // GPU files count both directions together.
    node.link_gbs =
        fill.Get("link_gbs", gpu.nvlink_gbs / 2, "half of the GPU's NVLink");
  } else {
    node.link_gbs = fill.Known("link_gbs").value_or(0);
  }
  if (const auto one = fill.Known("mesh_link_gbs")) {
    node.mesh_link_gbs = *one;
    int links = 0;
    for (const int count : node.mesh_links.front()) {
      links += count;
    }
    node.link_gbs = links * node.mesh_link_gbs;
  }
  node.pcie_gbs = fill.Get("pcie_gbs", gpu.pcie_gbs, "the GPU's 16 lanes");
  node.gpus_per_uplink = fill.Get("gpus_per_uplink", 1, "1, nothing shared");
  node.nics = fill.Known("nics").value_or(0);
  node.nic_gbs = fill.Known("nic_gbs").value_or(0);
}

void FillPlatform(const Device& gpu, Node& node) {
  NodeFiller fill(node);
  node.devices = static_cast<int>(*fill.Known("gpus_per_node"));
  node.domain_devices =
      static_cast<int>(fill.Known("domain_gpus").value_or(node.devices));
  FillLinks(gpu, node);
  node.memory_gbs = fill.Get("host_memory_gbs", UsualHostGbs(node.pcie_gbs),
                             "two usual sockets of the PCIe generation");
  node.memory_gb = fill.Get("host_memory_gb",
                            kUsualHostGbPerGpuGb * gpu.dram_gb * node.devices,
                            "twice that of the GPUs");
  node.power_w = fill.Get("power_w", kNodeOverGpus * node.devices * gpu.tdp_w,
                          fmt::format("{} times its GPUs' TDP", kNodeOverGpus));
  node.price_usd = fill.Known("price_usd");
}

void FillProcessors(Node& node) {
  NodeFiller fill(node);
  node.sockets = static_cast<int>(*fill.Known("sockets"));
  node.cores_per_socket = static_cast<int>(*fill.Known("cores_per_socket"));
  node.fp32_flops_per_clock = *fill.Known("fp32_flops_per_clock");
  node.memory_gb = *fill.Known("memory_gb");
  node.memory_gbs = *fill.Known("memory_gbs");
  const double base = *fill.Known("base_ghz");
  node.vector_ghz = fill.Get("vector_ghz", base, "the base clock");
  node.turbo_ghz =
      std::max(node.vector_ghz,
               fill.Get("turbo_ghz", kTurboOverBase * base,
                        fmt::format("{} of the base clock", kTurboOverBase)));
  node.bf16_flops_per_clock =
      fill.Get("bf16_flops_per_clock", node.fp32_flops_per_clock,
               "no such unit, as FP32");
  node.cache_mb = fill.Get("cache_mb", kCacheMbPerCore * node.cores_per_socket,
                           fmt::format("{} a core", kCacheMbPerCore));
  if (node.sockets > 1) {
    node.socket_link_gbs =
        fill.Get("socket_link_gbs", node.memory_gbs / node.sockets / 3,
                 "a third of a socket's memory");
  }
}

// The sockets of a server are devices, one process each.
void FillServer(Node& node) {
  FillProcessors(node);
  NodeFiller fill(node);
  node.devices = node.sockets;
  node.domain_devices = node.sockets;
  node.nics = 1;
  node.nic_gbs = fill.Get("nic_gbs", kUsualNicGbs, "25 Gb/s");
  node.layout = LinkLayout::kSwitch;
  // They exchange through memory that both see: every byte is read by a core
  // of one, over the link, and written for the other.
  node.link_gbs =
      std::min(node.sockets > 1 ? node.socket_link_gbs : node.memory_gbs,
               kExchangeCores * kCoreGbs / 2);
  node.pcie_gbs = std::max(node.nic_gbs, node.link_gbs);
  const double processors =
      node.sockets * fill.Get("tdp_w", kWattsPerCore * node.cores_per_socket,
                              fmt::format("{} W per core", kWattsPerCore));
  node.power_w = fill.Get(
      "power_w", kServerOverProcessors * processors,
      fmt::format("{} times its processors' TDP", kServerOverProcessors));
  node.price_usd = fill.Known("price_usd");
}

// Nodes with GPUs say which.
bool NamesGpu(const EmbeddedFile& file) {
  return file.text.find("\ngpu = ") != std::string_view::npos;
}

const Catalog<Node>& Platforms() {
  static const Catalog<Node> platforms({.what = Name(MachineKind::kPlatform),
                                        .files = NodeFileTexts(),
                                        .holds = &NamesGpu},
                                       &ParsePlatform);
  return platforms;
}

const Catalog<Node>& Servers() {
  static const Catalog<Node> servers(
      {.what = Name(MachineKind::kServer),
       .files = NodeFileTexts(),
       .holds = [](const EmbeddedFile& file) { return !NamesGpu(file); }},
      &ParseServer);
  return servers;
}

std::optional<double> AskedFor(const Figures& figures, std::string_view key) {
  const auto found = figures.find(key);
  return found != figures.end() && found->second.source == kAskedFor
             ? std::optional(found->second.value)
             : std::nullopt;
}

// "zion", "nic_gbs", 6 -> "zion@nic_gbs=6".
std::string WithFigure(std::string_view name, std::string_view key,
                       double value) {
  const bool first = name.find('@') == std::string_view::npos;
  return fmt::format("{}{}{}={}", name, first ? '@' : ',', key, value);
}

template <typename Find>
Result<std::vector<Node>> FindAll(std::span<const std::string> texts,
                                  Find find) {
  std::vector<Node> nodes;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(Node node, find(text));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace

std::string_view Name(LinkLayout layout) {
  for (const auto& [value, name] : kLayouts) {
    if (value == layout) {
      return name;
    }
  }
  return "unknown";
}

std::optional<LinkLayout> LinkLayoutFromName(std::string_view name) {
  for (const auto& [value, text] : kLayouts) {
    if (text == name) {
      return value;
    }
  }
  return std::nullopt;
}

Result<Node> ParsePlatform(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  RETURN_IF_ERROR(CheckMachineKeys(
      table, MachineKind::kPlatform,
      {"name", "title", "gpu", "notes", "collectives", "rails", "layout",
       "mesh_links", "switch_reduction", "network_reduction", "relays"}));
  Node node;
  RETURN_IF_ERROR(ReadPlatformNames(table, node));
  ASSIGN_OR_RETURN(node.figures, ReadFigures(table, MachineKind::kPlatform));
  const auto gpus = ValueOf(node.figures, "gpus_per_node");
  if (!gpus) {
    return FailAt(table,
                  "no 'gpus_per_node'; expected the number of GPUs per node");
  }
  const auto domain = ValueOf(node.figures, "domain_gpus");
  if (domain &&
      (node.layout != LinkLayout::kSwitch || std::fmod(*domain, *gpus) != 0)) {
    return FailAt(table,
                  "'domain_gpus' must be those of whole nodes that a switch "
                  "joins");
  }
  if (node.figures.contains("nics") != node.figures.contains("nic_gbs")) {
    return FailAt(table, "'nics' and 'nic_gbs' go together");
  }
  RETURN_IF_ERROR(ReadMesh(table, node));
  return node;
}

Result<Node> ParseServer(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  RETURN_IF_ERROR(CheckMachineKeys(table, MachineKind::kServer,
                                   {"name", "title", "notes"}));
  Node node;
  ASSIGN_OR_RETURN(node.name, GetString(table, "name"));
  ASSIGN_OR_RETURN(node.title, GetString(table, "title"));
  ASSIGN_OR_RETURN(node.notes, GetOptionalString(table, "notes"));
  ASSIGN_OR_RETURN(node.figures, ReadFigures(table, MachineKind::kServer));
  for (const std::string_view key : kRequired) {
    if (!table.contains(key)) {
      return FailAt(table, fmt::format("no '{}'; expected {{ value = ..., "
                                       "source = \"...\" }}",
                                       key));
    }
  }
  return node;
}

Node MakeNode(Node node, const Device* gpu) {
  if (gpu != nullptr) {
    FillPlatform(*gpu, node);
  } else {
    FillServer(node);
  }
  return node;
}

Result<Node> FindPlatform(std::string_view text) {
  ASSIGN_OR_RETURN(const Node* found,
                   Platforms().Find(NameBeforeFigures(text)));
  Node node = *found;
  RETURN_IF_ERROR(SetFigures(text, MachineKind::kPlatform, node.figures));
  ASSIGN_OR_RETURN(const Device gpu, FindDevice(node.gpu));
  return MakeNode(std::move(node), &gpu);
}

Result<Node> FindServer(std::string_view text) {
  ASSIGN_OR_RETURN(const Node* found, Servers().Find(NameBeforeFigures(text)));
  Node node = *found;
  RETURN_IF_ERROR(SetFigures(text, MachineKind::kServer, node.figures));
  return MakeNode(std::move(node), nullptr);
}

Result<std::vector<Node>> FindPlatforms(std::span<const std::string> texts) {
  return FindAll(texts, &FindPlatform);
}

Result<std::vector<Node>> LoadPlatforms() {
  return FindAll(Platforms().names(), &FindPlatform);
}

Result<std::vector<Node>> LoadServers() {
  return FindAll(Servers().names(), &FindServer);
}

Result<std::string> GpuOn(std::string_view gpu, std::string_view platform) {
  if (platform.find('@') == std::string_view::npos) {
    return std::string(gpu);
  }
  ASSIGN_OR_RETURN(const Node node, FindPlatform(platform));
  const auto rate = AskedFor(node.figures, "pcie_gbs");
  return rate ? WithFigure(gpu, "pcie_gbs", *rate) : std::string(gpu);
}

Result<std::string> PlatformWith(std::string_view platform,
                                 std::string_view gpu) {
  if (gpu.find('@') == std::string_view::npos) {
    return std::string(platform);
  }
  ASSIGN_OR_RETURN(const Device device, FindDevice(gpu));
  const auto both_ways = AskedFor(device.figures, "nvlink_gbs");
  if (!both_ways) {
    return std::string(platform);
  }
  const double rate = *both_ways / 2;
  ASSIGN_OR_RETURN(const Node node, FindPlatform(platform));
  return node.layout == LinkLayout::kMesh
             ? WithFigure(platform, "mesh_link_gbs",
                          node.mesh_link_gbs * rate / node.link_gbs)
             : WithFigure(platform, "link_gbs", rate);
}

// Six channels of DDR4-2666, eight of DDR4-3200, eight of DDR5-4800 each.
double UsualHostGbs(double pcie_gbs) {
  if (pcie_gbs < 20) {
    return 256;
  }
  return pcie_gbs < 40 ? 409.6 : 614.4;
}

}  // namespace hw
}  // namespace stepcast
