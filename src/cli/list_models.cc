// Lists of models: of kernels, of hosts, and those to predict.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "cli/list_docs.h"
#include "cost/fitted_model.h"
#include "cost/kernels/family.h"
#include "cost/overheads/overhead_files.h"
#include "cost/overheads/overhead_table.h"
#include "cost/profile.h"
#include "hw/device.h"
#include "workload/impl/implementations.h"
#include "workload/model_files.h"

namespace stepcast::cli {
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
std::string SizeOf(const workload::Model& model) {
  switch (model.kind) {
    case workload::ModelKind::kResNet50:
    case workload::ModelKind::kInceptionV3:
      return fmt::format("images of {0} x {0}", model.image_size);
    case workload::ModelKind::kTransformer:
      return fmt::format("{} layers of {}, {} tokens", model.transformer.layers,
                         model.transformer.hidden, model.transformer.sequence);
    default:
      break;
  }
  int64_t rows = 0;
  for (const workload::TableGroup& group : model.tables) {
    rows += group.count * group.rows;
  }
  return fmt::format("{} tables, {:.3g} M rows, {} columns, {} dense features",
                     workload::TableCount(model),
                     static_cast<double>(rows) / kMega,
                     workload::EmbeddingWidth(model), model.dense_features);
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
  for (const auto& implementation : workload::Implementations()) {
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
  ASSIGN_OR_RETURN(const std::vector<workload::Model> models,
                   workload::LoadModels());
  for (const workload::Model& model : models) {
    table.rows.push_back({model.name, std::string(workload::Name(model.kind)),
                          model.batch, workload::TableCount(model),
                          SizeOf(model), model.source});
  }
  Table implementations{
      .key = "implementations",
      .title = "implementations",
      .columns = {{.key = "name", .label = "name"},
                  {.key = "description", .label = "what it is"}}};
  for (const auto& implementation : workload::Implementations()) {
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
