// Lists of machines and of what is known of them.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/join.h"
#include "cli/list_docs.h"
#include "cost/profile.h"
#include "engine/cpu_runtime.h"
#include "hw/cluster.h"
#include "hw/cpu_device.h"
#include "hw/device.h"
#include "hw/figures.h"
#include "hw/links.h"
#include "hw/node.h"

namespace stepcast::cli {
namespace {

using view::Table;
using view::Value;

// Programs get everything that is published of a machine, with its source, and
// what is derived of it.
void AddPublishedColumns(hw::MachineKind machine, Table& table) {
  for (const hw::FigureField& field : hw::FigureFields()) {
    if (hw::IsOf(field, machine)) {
      table.columns.push_back({.key = fmt::format("{}.value", field.key)});
      table.columns.push_back({.key = fmt::format("{}.source", field.key)});
    }
  }
  table.columns.push_back({.key = "derived"});
}

void AddPublished(hw::MachineKind machine, const hw::Figures& figures,
                  const std::vector<std::string>& derived,
                  std::vector<Value>& row) {
  for (const hw::FigureField& field : hw::FigureFields()) {
    if (hw::IsOf(field, machine)) {
      const auto figure = figures.find(field.key);
      const bool known = figure != figures.end();
      row.push_back(known ? Value(figure->second.value) : Value());
      row.push_back(known ? Value(figure->second.source) : Value());
    }
  }
  row.emplace_back(derived);
}

// Where the kernel times of a GPU come from, in a few words.
std::string SourceOf(const hw::Device& gpu, const cost::Profile& profile) {
  if (!profile.models.empty()) {
    return fmt::format("{} fitted models", profile.models.size());
  }
  return gpu.borrow.empty() ? "formulas"
                            : fmt::format("models of {}", gpu.borrow.front());
}

// Nothing that is 0 is there.
Value RateOf(double rate) {
  return rate > 0 ? Value(rate) : Value(nullptr);
}

}  // namespace

Result<view::Doc> ListGpus() {
  Table table{.key = "gpus",
              .title = "GPUs",
              .columns = {{.key = "name", .label = "name"},
                          {.key = "title", .label = "title"},
                          {.key = "generation", .label = "generation"},
                          {.key = "chip"},
                          {.label = "SMs"},
                          {.label = "FP32", .unit = "TFLOP/s", .decimals = 1},
                          {.label = "FP16", .unit = "TFLOP/s", .decimals = 0},
                          {.label = "memory", .unit = "GB/s", .decimals = 0},
                          {.label = "kernel times"}}};
  AddPublishedColumns(hw::MachineKind::kGpu, table);
  ASSIGN_OR_RETURN(const std::vector<hw::Device> gpus, hw::LoadGpus());
  for (const hw::Device& gpu : gpus) {
    ASSIGN_OR_RETURN(const cost::Profile profile,
                     cost::ProfileStore().Load(gpu.name));
    std::vector<Value> row = {
        gpu.name,        gpu.title,    std::string(hw::Name(gpu.generation)),
        gpu.chip,        gpu.sm_count, gpu.fp32_tflops,
        gpu.fp16_tflops, gpu.dram_gbs, SourceOf(gpu, profile)};
    AddPublished(hw::MachineKind::kGpu, gpu.figures, gpu.derived, row);
    table.rows.push_back(std::move(row));
  }
  return ListOf(std::move(table));
}

Result<view::Doc> ListPlatforms() {
  Table table{.key = "platforms",
              .title = "servers with GPUs",
              .columns = {{.key = "name", .label = "name"},
                          {.key = "title", .label = "title"},
                          {.key = "gpu", .label = "GPU"},
                          {.label = "GPUs"},
                          {.key = "layout", .label = "links"},
                          {.label = "per GPU", .unit = "GB/s", .decimals = 0},
                          {.label = "PCIe", .unit = "GB/s", .decimals = 1},
                          {.label = "NIC", .unit = "GB/s", .decimals = 2},
                          {.key = "rails"},
                          {.key = "switch_reduction"}}};
  AddPublishedColumns(hw::MachineKind::kPlatform, table);
  ASSIGN_OR_RETURN(const std::vector<hw::Node> platforms, hw::LoadPlatforms());
  for (const hw::Node& platform : platforms) {
    std::vector<Value> row = {
        platform.name,
        platform.title,
        platform.gpu,
        int64_t{platform.devices},
        std::string(hw::Name(platform.layout)),
        RateOf(platform.link_gbs),
        platform.pcie_gbs,
        RateOf(hw::NicGbsPerGpu(platform, platform.devices)),
        platform.rails,
        platform.switch_reduction};
    AddPublished(hw::MachineKind::kPlatform, platform.figures, platform.derived,
                 row);
    table.rows.push_back(std::move(row));
  }
  view::Doc doc = ListOf(std::move(table));
  doc.blocks.emplace_back(
      view::Text{.text = "GB/s: of one GPU in one direction"});
  return doc;
}

Result<view::Doc> ListServers() {
  Table table{.key = "servers",
              .title = "servers without GPUs",
              .columns = {{.key = "name", .label = "name"},
                          {.key = "title", .label = "title"},
                          {.label = "cores"},
                          {.label = "FP32", .unit = "TFLOP/s", .decimals = 1},
                          {.label = "BF16", .unit = "TFLOP/s", .decimals = 1},
                          {.label = "memory", .unit = "GB", .decimals = 0},
                          {.label = "rate", .unit = "GB/s", .decimals = 0},
                          {.label = "NIC", .unit = "GB/s", .decimals = 2},
                          {.label = "power", .unit = "W", .decimals = 0}}};
  AddPublishedColumns(hw::MachineKind::kServer, table);
  ASSIGN_OR_RETURN(const std::vector<hw::Node> servers, hw::LoadServers());
  for (const hw::Node& host : servers) {
    const hw::Device device = hw::MakeCpuDevice(host, hw::WholeNode(host));
    std::vector<Value> row = {
        host.name,
        host.title,
        fmt::format("{} x {}", host.sockets, host.cores_per_socket),
        device.fp32_tflops,
        device.bf16_tflops,
        host.memory_gb,
        host.memory_gbs,
        host.nic_gbs,
        host.power_w};
    AddPublished(hw::MachineKind::kServer, host.figures, host.derived, row);
    table.rows.push_back(std::move(row));
  }
  Table runtimes{.key = "runtimes",
                 .title = "runtimes",
                 .columns = {{.key = "name", .label = "name"},
                             {.key = "description", .label = "what it is"}}};
  for (const engine::CpuRuntime& runtime : engine::CpuRuntimes()) {
    runtimes.rows.push_back(
        {std::string(runtime.name), std::string(runtime.help)});
  }
  view::Doc doc = ListOf(std::move(table));
  doc.blocks.emplace_back(std::move(runtimes));
  return doc;
}

Result<view::Doc> ListFigures() {
  Table table{.key = "figures",
              .title = "figures of machines",
              .columns = {{.key = "name", .label = "figure"},
                          {.key = "of", .label = "of"},
                          {.key = "low", .label = "from"},
                          {.key = "high", .label = "to"},
                          {.key = "unit", .label = "unit"},
                          {.key = "description", .label = "what it says"}}};
  for (const hw::FigureField& field : hw::FigureFields()) {
    std::vector<std::string_view> owners;
    for (const hw::MachineKind machine :
         {hw::MachineKind::kGpu, hw::MachineKind::kPlatform,
          hw::MachineKind::kServer}) {
      if (hw::IsOf(field, machine)) {
        owners.push_back(hw::Name(machine));
      }
    }
    table.rows.push_back({std::string(field.key), Join(owners, ","), field.low,
                          field.high, std::string(field.unit),
                          std::string(field.help)});
  }
  return ListOf(std::move(table));
}

}  // namespace stepcast::cli
