// Lists of models: of kernels, of hosts, and those to predict.
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/units.h"
#include "cli/list_docs.h"
#include "cost/fitted_model.h"
#include "cost/kernels/family.h"
#include "cost/overheads/overhead_table.h"
#include "cost/profile.h"
#include "engine/run/cpu_runtime.h"
#include "hw/cluster.h"
#include "hw/cpu_device.h"
#include "hw/device.h"
#include "hw/figures.h"
#include "hw/links.h"
#include "hw/node.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"

namespace stepcast::cli {

// Lists of machines and of what is known of them.

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

namespace {

using view::Table;
using view::Value;

struct GpuModels {
  std::string gpu{};
  std::vector<cost::FittedModel> models{};
};

Result<std::vector<GpuModels>> LoadFittedModels() {
  std::vector<GpuModels> all;
  ASSIGN_OR_RETURN(const std::vector<hw::Device> gpus, hw::LoadGpus());
  for (const hw::Device& gpu : gpus) {
    ASSIGN_OR_RETURN(cost::Profile profile,
                     cost::ProfileStore().Load(gpu.name));
    all.push_back({.gpu = gpu.name, .models = std::move(profile.models)});
  }
  return all;
}

Value ErrorOf(const cost::FittedModel& model, std::string_view candidate) {
  const auto found =
      std::ranges::find(model.candidates, candidate, &cost::Candidate::name);
  return found == model.candidates.end() ? Value() : Value(found->gmae_pct);
}

// Every candidate has a column for programs; people see the chosen one's error
// and the formula's.
Table FittedTable(const std::vector<GpuModels>& all) {
  Table table{.key = "models",
              .title = "fitted to measurements",
              .caption =
                  "errors are GMAE of the validation part, by which the "
                  "model was chosen",
              .columns = {{.key = "gpu", .label = "gpu"},
                          {.key = "family", .label = "family"},
                          {.key = "variant", .label = "type"},
                          {.key = "chosen", .label = "answers"},
                          {.label = "error", .unit = "%", .decimals = 1},
                          {.label = "formula", .unit = "%", .decimals = 1},
                          {.key = "validation_gmae_pct."}}};
  std::set<std::string> candidates;
  for (const GpuModels& one : all) {
    for (const cost::FittedModel& model : one.models) {
      for (const cost::Candidate& candidate : model.candidates) {
        candidates.insert(candidate.name);
      }
    }
  }
  for (const std::string& name : candidates) {
    table.columns.push_back({.key = "validation_gmae_pct." + name});
  }
  for (const GpuModels& one : all) {
    for (const cost::FittedModel& model : one.models) {
      std::vector<Value> row = {one.gpu,
                                model.family,
                                std::string(cost::Name(model.variant)),
                                model.chosen,
                                ErrorOf(model, model.chosen),
                                ErrorOf(model, "formula"),
                                true};
      for (const std::string& name : candidates) {
        row.push_back(ErrorOf(model, name));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

// "26 tables of 128 columns, 13 dense features", or the sizes of what it is.
std::string SizeOf(const model::Model& model) {
  switch (model.kind) {
    case model::ModelKind::kResNet50:
    case model::ModelKind::kInceptionV3:
      return fmt::format("images of {0} x {0}", model.image_size);
    case model::ModelKind::kTransformer:
      return fmt::format("{} layers of {}, {} tokens", model.transformer.layers,
                         model.transformer.hidden, model.transformer.sequence);
    default:
      break;
  }
  int64_t rows = 0;
  for (const model::TableGroup& group : model.tables) {
    rows += group.count * group.rows;
  }
  return fmt::format("{} tables, {:.3g} M rows, {} columns, {} dense features",
                     model::TableCount(model),
                     static_cast<double>(rows) / kMega,
                     model::EmbeddingWidth(model), model.dense_features);
}

// "Host overheads, by stepcast ..." says nothing of the set; the line after it
// does.
std::string TitleOf(const std::vector<std::string>& provenance) {
  for (const std::string& line : provenance) {
    if (!line.starts_with("Host overheads, by stepcast")) {
      return line;
    }
  }
  return "";
}

// The implementations that take a set where nobody says.
std::vector<std::string> UsersOf(std::string_view overheads) {
  std::vector<std::string> names;
  for (const auto& implementation : model::Implementations()) {
    if (implementation.overheads == overheads) {
      names.emplace_back(implementation.name);
    }
  }
  return names;
}

}  // namespace

Result<view::Doc> ListModels() {
  ASSIGN_OR_RETURN(const std::vector<GpuModels> all, LoadFittedModels());
  view::Doc doc = ListOf(FittedTable(all));
  doc.title = "models of kernels";
  Table families{.title = "families of kernels",
                 .columns = {{.label = "family"}, {.label = "predicted by"}}};
  std::vector<std::string> names;
  for (const cost::Family& family : cost::Families()) {
    names.emplace_back(family.name);
    families.rows.push_back(
        {names.back(),
         std::string(family.features == nullptr
                         ? "formula"
                         : "formula, corrected where there is data")});
  }
  doc.blocks.insert(
      doc.blocks.begin(),
      {view::Facts{{{.key = "families"}, names}}, std::move(families)});
  return doc;
}

Result<view::Doc> ListWorkloads() {
  Table table{.key = "workloads",
              .title = "models to predict",
              .columns = {{.key = "name", .label = "name"},
                          {.key = "kind", .label = "kind"},
                          {.key = "batch", .label = "batch"},
                          {.key = "tables"},
                          {.label = "size"},
                          {.key = "source"}}};
  ASSIGN_OR_RETURN(const std::vector<model::Model> models, model::LoadModels());
  for (const model::Model& model : models) {
    table.rows.push_back({model.name, std::string(model::Name(model.kind)),
                          model.batch, model::TableCount(model), SizeOf(model),
                          model.source});
  }
  Table implementations{
      .key = "implementations",
      .title = "implementations",
      .columns = {{.key = "name", .label = "name"},
                  {.key = "description", .label = "what it is"}}};
  for (const auto& implementation : model::Implementations()) {
    implementations.rows.push_back(
        {std::string(implementation.name), std::string(implementation.help)});
  }
  view::Doc doc = ListOf(std::move(table));
  doc.blocks.emplace_back(std::move(implementations));
  return doc;
}

Result<view::Doc> ListOverheads() {
  Table table{.key = "overheads",
              .title = "hosts whose times are known",
              .columns = {{.key = "name", .label = "name"},
                          {.key = "rows", .label = "rows"},
                          {.key = "launch_us", .label = "launch", .unit = "us"},
                          {.key = "implementations", .label = "default of"},
                          {.label = "what it is of"},
                          {.key = "provenance"}}};
  for (const std::string& name : cost::OverheadNames()) {
    ASSIGN_OR_RETURN(const cost::OverheadData* own,
                     cost::FindOwnOverheads(name));
    ASSIGN_OR_RETURN(cost::OverheadData data, cost::LoadOverheads(name));
    int64_t rows = 0;  // Of its own, not of the shared set.
    for (const cost::OverheadRows& part : own->parts) {
      rows += std::ssize(part);
    }
    const cost::OverheadTable times(std::move(data));
    const cost::OverheadRow launch =
        times.Lookup(cost::OverheadPart::kCall, "launch cudaLaunchKernel").row;
    table.rows.push_back(
        {name, rows, FromMicroseconds(times.WithoutProfiler(launch)),
         UsersOf(name), TitleOf(own->provenance), own->provenance});
  }
  view::Doc doc = ListOf(std::move(table));
  doc.blocks.emplace_back(view::Text{
      .text = "launch: of one cudaLaunchKernel, without a profiler; parts that "
              "a set lacks are those of shared"});
  return doc;
}

}  // namespace stepcast::cli
