#include "hw/figures.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "base/text/value_text.h"

namespace stepcast::hw {
namespace {

constexpr auto kGpu = static_cast<uint8_t>(MachineKind::kGpu);
constexpr auto kPlatform = static_cast<uint8_t>(MachineKind::kPlatform);
constexpr auto kServer = static_cast<uint8_t>(MachineKind::kServer);
constexpr uint8_t kNode = kPlatform | kServer;

// A range is wide enough for any machine of the last and next ten years, and
// for one core of a processor without a vector library.
constexpr std::array kFields = {
    FigureField{"sm_count", kGpu, 1, 2000, "", "multiprocessors"},
    FigureField{"fp32_lanes_per_sm", kGpu, 16, 1024, "",
                "of one multiprocessor"},
    FigureField{"max_clock_mhz", kGpu, 200, 6000, "MHz", "highest clock"},
    FigureField{"fp32_tflops", kGpu, 0.5, 2000, "TFLOP/s",
                "of the vector units", 1e-4},
    FigureField{"tf32_tflops", kGpu, 5, 20000, "TFLOP/s",
                "dense, on matrix units"},
    FigureField{"fp16_tflops", kGpu, 5, 50000, "TFLOP/s",
                "dense, on matrix units"},
    FigureField{"bf16_tflops", kGpu, 5, 50000, "TFLOP/s",
                "dense, on matrix units"},
    FigureField{"dram_gb", kGpu, 1, 4000, "GB", "memory of the GPU"},
    FigureField{"dram_gbs", kGpu, 20, 100000, "GB/s", "rate of its memory",
                0.5},
    FigureField{"l2_mb", kGpu, 0.25, 2000, "MB", "last cache"},
    FigureField{"smem_per_sm_kb", kGpu, 16, 2000, "kB",
                "shared memory of a multiprocessor"},
    FigureField{"nvlink_gbs", kGpu, 10, 20000, "GB/s",
                "all NVLinks, both directions together"},
    FigureField{"pcie_gen", kGpu, 1, 10, "", "PCIe generation of its 16 lanes"},
    FigureField{"pcie_gbs", kGpu, 0.5, 2000, "GB/s",
                "PCIe rate, if not that of the generation"},
    FigureField{"tdp_w", kGpu, 20, 5000, "W", "power limit"},
    // What large kernels reach, as a share of the peaks.
    FigureField{"gemm_fp32_share", kGpu, 0.05, 1, "",
                "share of the peak that large FP32 products reach"},
    FigureField{"bmm_fp32_share", kGpu, 0.05, 1, "",
                "the same of batches of FP32 products"},
    FigureField{"conv_fp32_share", kGpu, 0.05, 1, "",
                "the same of FP32 convolutions"},
    FigureField{"gemm_half_share", kGpu, 0.05, 1, "",
                "the same of products on matrix units"},
    FigureField{"copy_share", kGpu, 0.05, 1, "",
                "share of the memory's rate that large copies reach"},

    FigureField{"gpus_per_node", kPlatform, 1, 1024, "", "GPUs of a node"},
    FigureField{"domain_gpus", kPlatform, 2, 65536, "",
                "GPUs that links join, where they are those of several nodes"},
    FigureField{"link_gbs", kPlatform, 1, 20000, "GB/s", "all links of a GPU"},
    FigureField{"mesh_link_gbs", kPlatform, 1, 2000, "GB/s",
                "one link of a mesh"},
    FigureField{"link_latency_us", kPlatform, 0.05, 50, "us",
                "one step of a collective over a link"},
    FigureField{"pcie_gbs", kPlatform, 0.5, 2000, "GB/s", "PCIe rate of a GPU"},
    FigureField{"gpus_per_uplink", kPlatform, 1, 64, "",
                "GPUs that share a PCIe uplink to the host"},
    FigureField{"sockets", kServer, 1, 64, "", "processors"},
    FigureField{"cores_per_socket", kServer, 1, 1024, "",
                "cores of a processor; of a slice, those that are ours"},
    FigureField{"base_ghz", kServer, 0.5, 10, "GHz", "base clock"},
    FigureField{"turbo_ghz", kServer, 0.5, 10, "GHz",
                "clock of one core alone"},
    FigureField{"vector_ghz", kServer, 0.5, 10, "GHz",
                "clock of all cores with busy vector units"},
    FigureField{"fp32_flops_per_clock", kServer, 2, 4096, "FLOP",
                "FP32, per core"},
    FigureField{"bf16_flops_per_clock", kServer, 2, 65536, "FLOP",
                "BF16, per core; left out: no such unit"},
    FigureField{"cache_mb", kServer, 0.5, 10000, "MB",
                "last cache, per socket"},
    FigureField{"memory_gb", kServer, 1, 1e6, "GB", "memory of the server"},
    FigureField{"memory_gbs", kServer, 1, 1e5, "GB/s", "rate of its memory"},
    FigureField{"socket_link_gbs", kServer, 1, 5000, "GB/s",
                "all links of a socket"},
    FigureField{"nics", kPlatform, 1, 256, "", "network adapters of a node"},
    FigureField{"nic_gbs", kPlatform, 0.1, 2000, "GB/s", "rate of one adapter"},
    FigureField{"nic_gbs", kServer, 0.05, 2000, "GB/s", "all adapters"},
    FigureField{"nic_latency_us", kPlatform, 0.1, 1000, "us",
                "one step of a collective over the network"},
    FigureField{"host_memory_gb", kPlatform, 8, 1e6, "GB",
                "host memory of a node"},
    FigureField{"host_memory_gbs", kPlatform, 5, 1e5, "GB/s",
                "its rate, all sockets"},
    FigureField{"tdp_w", kServer, 5, 2000, "W", "power limit of a socket"},
    FigureField{"power_w", kPlatform, 50, 1e6, "W", "power of a busy node"},
    FigureField{"power_w", kServer, 10, 1e5, "W", "power of a busy node"},
    FigureField{"price_usd", kNode, 100, 1e8, "USD", "price of a node"},
};

Result<Figure> ReadFigure(const toml::node& node, const FigureField& field,
                          double low) {
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    return FailAt(node, fmt::format("'{}' must be a table with 'value' and "
                                    "'source'",
                                    field.key));
  }
  constexpr std::array<std::string_view, 2> kKeys = {"value", "source"};
  RETURN_IF_ERROR(CheckKeys(*table, kKeys));
  const auto value = (*table)["value"].value<double>();
  if (!value) {
    return FailAt(*table,
                  fmt::format("'{}' has no number as its 'value'", field.key));
  }
  if (!(*value >= low && *value <= field.high)) {
    return FailAt(
        *table, fmt::format("{} is {}; expected {} to {} {}", field.key, *value,
                            low, field.high, field.unit));
  }
  ASSIGN_OR_RETURN(std::string source, GetString(*table, "source"));
  return Figure{.value = *value, .source = std::move(source)};
}

}  // namespace

std::optional<double> ValueOf(const Figures& figures, std::string_view key) {
  const auto found = figures.find(key);
  return found == figures.end() ? std::nullopt
                                : std::optional(found->second.value);
}

std::string_view Name(MachineKind machine) {
  switch (machine) {
    case MachineKind::kGpu:
      return "GPU";
    case MachineKind::kPlatform:
      return "platform";
    case MachineKind::kServer:
      break;
  }
  return "server";
}

std::span<const FigureField> FigureFields() {
  return kFields;
}

bool IsOf(const FigureField& field, MachineKind machine) {
  return (field.of & static_cast<uint8_t>(machine)) != 0;
}

Status CheckMachineKeys(const toml::table& table, MachineKind machine,
                        std::vector<std::string_view> names) {
  for (const FigureField& field : kFields) {
    if (IsOf(field, machine)) {
      names.push_back(field.key);
    }
  }
  return CheckKeys(table, names);
}

Result<Figures> ReadFigures(const toml::table& table, MachineKind machine,
                            bool is_cpu) {
  Figures figures;
  for (const FigureField& field : kFields) {
    const toml::node* node = table.get(field.key);
    if (node != nullptr && IsOf(field, machine)) {
      const double low = is_cpu ? field.cpu_low.value_or(field.low) : field.low;
      ASSIGN_OR_RETURN(figures[std::string(field.key)],
                       ReadFigure(*node, field, low));
    }
  }
  return figures;
}

Status SetFigure(std::string_view text, MachineKind machine, Figures& figures) {
  const size_t sign = text.find('=');
  if (sign == std::string_view::npos) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' after a {}; expected KEY=VALUE", text,
                            Name(machine)));
  }
  const std::string_view key = text.substr(0, sign);
  const std::string_view number = text.substr(sign + 1);
  std::vector<std::string_view> keys;
  for (const FigureField& field : kFields) {
    if (!IsOf(field, machine)) {
      continue;
    }
    keys.push_back(field.key);
    if (field.key != key) {
      continue;
    }
    const auto value = ParseQuantity(number, field.unit);
    if (!value || !(*value >= field.low && *value <= field.high)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is '{}'; expected {} to {}{}{}", key, number,
                              field.low, field.high,
                              field.unit.empty() ? "" : " ", field.unit));
    }
    figures[std::string(key)] = {.value = *value,
                                 .source = std::string(kAskedFor)};
    return {};
  }
  return Fail(ErrorCode::kInvalidInput,
              Unknown(fmt::format("figure of a {}", Name(machine)), key, keys));
}

Status SetFigures(std::string_view text, MachineKind machine,
                  Figures& figures) {
  size_t at = text.find('@');
  while (at != std::string_view::npos) {
    text.remove_prefix(at + 1);
    at = text.find(',');
    RETURN_IF_ERROR(SetFigure(text.substr(0, at), machine, figures));
  }
  return {};
}

}  // namespace stepcast::hw
