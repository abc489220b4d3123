#include "hw/platform.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/toml_read.h"
#include "hw/read_figure.h"

namespace stepcast::hw {
namespace {

constexpr std::array<std::pair<LinkLayout, std::string_view>, 5> kLayouts = {
    {{LinkLayout::kSwitch, "switch"},
     {LinkLayout::kMesh, "mesh"},
     {LinkLayout::kPairs, "pairs"},
     {LinkLayout::kPcie, "pcie"},
     {LinkLayout::kHost, "host"}}};

// No pair of GPUs has more links than this: NVLink 4 has 18 a GPU.
constexpr int64_t kMostLinks = 64;

constexpr std::array kPlatformFields = {
    PlatformField{"gpus_per_node", &Platform::gpus_per_node, 1, 1024, ""},
    PlatformField{"domain_gpus", &Platform::domain_gpus, 2, 65536, ""},
    PlatformField{"link_gbs", &Platform::link_gbs, 1, 20000, "GB/s"},
    PlatformField{"mesh_link_gbs", &Platform::mesh_link_gbs, 1, 2000, "GB/s"},
    PlatformField{"link_latency_us", &Platform::link_latency_us, 0.05, 50,
                  "us"},
    PlatformField{"pcie_gbs", &Platform::pcie_gbs, 0.5, 2000, "GB/s"},
    PlatformField{"gpus_per_uplink", &Platform::gpus_per_uplink, 1, 64, ""},
    PlatformField{"nics", &Platform::nics, 1, 256, ""},
    PlatformField{"nic_gbs", &Platform::nic_gbs, 0.1, 2000, "GB/s"},
    PlatformField{"nic_latency_us", &Platform::nic_latency_us, 0.1, 1000, "us"},
    PlatformField{"host_memory_gb", &Platform::host_memory_gb, 8, 1e6, "GB"},
    PlatformField{"host_memory_gbs", &Platform::host_memory_gbs, 5, 1e5,
                  "GB/s"},
    PlatformField{"power_w", &Platform::power_w, 50, 1e6, "W"},
    PlatformField{"price_usd", &Platform::price_usd, 100, 1e8, "USD"},
};

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

Status CheckMesh(const toml::node& node, const Platform& platform) {
  const auto& links = platform.mesh_links;
  const auto gpus = static_cast<size_t>(platform.gpus_per_node->value);
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

Status ReadMesh(const toml::table& table, Platform& platform) {
  const toml::node* node = table.get("mesh_links");
  const bool is_mesh = platform.layout == LinkLayout::kMesh;
  if ((node != nullptr) != is_mesh ||
      platform.mesh_link_gbs.has_value() != is_mesh) {
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

Status ReadNames(const toml::table& table, Platform& platform) {
  ASSIGN_OR_RETURN(platform.name, GetString(table, "name"));
  ASSIGN_OR_RETURN(platform.title, GetString(table, "title"));
  ASSIGN_OR_RETURN(platform.gpu, GetString(table, "gpu"));
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
                              layout, fmt::join(names, ", ")));
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

int DomainGpus(const Platform& platform) {
  return static_cast<int>(
      platform.domain_gpus.value_or(*platform.gpus_per_node).value);
}

std::span<const PlatformField> PlatformFields() {
  return kPlatformFields;
}

Result<Platform> ParsePlatform(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  std::vector<std::string_view> keys = {"name",
                                        "title",
                                        "gpu",
                                        "notes",
                                        "collectives",
                                        "rails",
                                        "layout",
                                        "mesh_links",
                                        "switch_reduction",
                                        "network_reduction",
                                        "relays"};
  for (const PlatformField& field : kPlatformFields) {
    keys.push_back(field.key);
  }
  RETURN_IF_ERROR(CheckKeys(table, keys));
  Platform platform;
  RETURN_IF_ERROR(ReadNames(table, platform));
  for (const PlatformField& field : kPlatformFields) {
    if (const toml::node* node = table.get(field.key)) {
      ASSIGN_OR_RETURN(platform.*field.member,
                       ReadFigure(*node, {.key = field.key,
                                          .low = field.low,
                                          .high = field.high,
                                          .unit = field.unit}));
    }
  }
  if (!platform.gpus_per_node) {
    return FailAt(table,
                  "no 'gpus_per_node'; expected how many GPUs a node "
                  "has");
  }
  if (platform.domain_gpus && (platform.layout != LinkLayout::kSwitch ||
                               std::fmod(platform.domain_gpus->value,
                                         platform.gpus_per_node->value) != 0)) {
    return FailAt(table,
                  "'domain_gpus' must be those of whole nodes that a switch "
                  "joins");
  }
  if (platform.nics.has_value() != platform.nic_gbs.has_value()) {
    return FailAt(table, "'nics' and 'nic_gbs' go together");
  }
  RETURN_IF_ERROR(ReadMesh(table, platform));
  return platform;
}

}  // namespace stepcast::hw
