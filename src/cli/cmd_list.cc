// stepcast list: what is built in.
#include <algorithm>

#include <fmt/format.h>

#include "api/ask.h"
#include "base/json_write.h"
#include "base/nearest.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/list_overheads.h"
#include "cli/list_servers.h"
#include "cli/list_settings.h"
#include "cli/list_studies.h"
#include "cli/option_parser.h"
#include "cli/output.h"
#include "cli/output_formats.h"
#include "cost/fitted_model.h"
#include "cost/kernels/family.h"
#include "cost/profile.h"
#include "hw/cluster.h"
#include "hw/device.h"
#include "hw/links.h"
#include "ingest/formats.h"
#include "whatif/change.h"
#include "workload/impl/implementations.h"
#include "workload/model_files.h"

namespace stepcast::cli {
namespace {

Result<std::string> FormatsText() {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  for (const ingest::TraceFormat& format : ingest::Formats()) {
    table.AddRow({"read", std::string(format.name), "",
                  std::string(format.description)});
  }
  for (const OutputFormat& format : OutputFormats()) {
    table.AddRow({"write", std::string(format.name),
                  std::string(format.extensions),
                  std::string(format.description)});
  }
  return table.ToString();
}

Result<std::string> FormatsJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("read").BeginArray();
  for (const ingest::TraceFormat& format : ingest::Formats()) {
    json.BeginObject();
    json.Key("name").String(format.name);
    json.Key("description").String(format.description);
    json.EndObject();
  }
  json.EndArray();
  json.Key("write").BeginArray();
  for (const OutputFormat& format : OutputFormats()) {
    json.BeginObject();
    json.Key("name").String(format.name);
    json.Key("extensions").String(format.extensions);
    json.Key("description").String(format.description);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

// Where the kernel times of a GPU come from, in a few words.
std::string SourceOf(const hw::Device& gpu, const cost::Profile& profile) {
  if (!profile.models.empty()) {
    return fmt::format("{} fitted models", profile.models.size());
  }
  return gpu.borrow.empty() ? "formulas"
                            : fmt::format("models of {}", gpu.borrow.front());
}

Result<std::string> GpusText() {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"name", "title", "generation", "SMs", "FP32 TF", "FP16 TF",
                "GB/s", "kernel times"});
  ASSIGN_OR_RETURN(const std::vector<hw::Device> gpus, hw::LoadGpus());
  for (const hw::Device& gpu : gpus) {
    ASSIGN_OR_RETURN(const cost::Profile profile,
                     cost::ProfileStore().Load(gpu.name));
    table.AddRow({gpu.name, gpu.title, std::string(hw::Name(gpu.generation)),
                  fmt::format("{:.0f}", gpu.sm_count),
                  fmt::format("{:.1f}", gpu.fp32_tflops),
                  fmt::format("{:.0f}", gpu.fp16_tflops),
                  fmt::format("{:.0f}", gpu.dram_gbs), SourceOf(gpu, profile)});
  }
  return table.ToString();
}

Result<std::string> GpusJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("gpus").BeginArray();
  ASSIGN_OR_RETURN(const std::vector<hw::Device> gpus, hw::LoadGpus());
  for (const hw::Device& gpu : gpus) {
    json.BeginObject();
    json.Key("name").String(gpu.name);
    json.Key("title").String(gpu.title);
    json.Key("generation").String(hw::Name(gpu.generation));
    json.Key("chip").String(gpu.chip);
    WritePublished(json, hw::MachineKind::kGpu, gpu.figures, gpu.derived);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

// Calls visit(gpu, model) for every built-in fitted model.
template <typename Visit>
Status ForEachModel(const Visit& visit) {
  ASSIGN_OR_RETURN(const std::vector<hw::Device> gpus, hw::LoadGpus());
  for (const hw::Device& gpu : gpus) {
    ASSIGN_OR_RETURN(const cost::Profile profile,
                     cost::ProfileStore().Load(gpu.name));
    for (const cost::FittedModel& model : profile.models) {
      visit(gpu, model);
    }
  }
  return {};
}

double ErrorOf(const cost::FittedModel& model, std::string_view candidate) {
  const auto found =
      std::ranges::find(model.candidates, candidate, &cost::Candidate::name);
  return found == model.candidates.end() ? 0 : found->gmae_pct;
}

Result<std::string> ModelsText() {
  TextTable families({Align::kLeft, Align::kLeft});
  for (const cost::Family& family : cost::Families()) {
    families.AddRow({std::string(family.name),
                     family.features == nullptr
                         ? "formula"
                         : "formula, corrected where there is data"});
  }
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft,
                   Align::kRight, Align::kRight});
  table.AddRow({"gpu", "family", "type", "answers", "GMAE%", "formula%"});
  RETURN_IF_ERROR(
      ForEachModel([&](const hw::Device& gpu, const cost::FittedModel& model) {
        table.AddRow({gpu.name, model.family,
                      std::string(cost::Name(model.variant)), model.chosen,
                      fmt::format("{:.1f}", ErrorOf(model, model.chosen)),
                      fmt::format("{:.1f}", ErrorOf(model, "formula"))});
      }));
  return fmt::format(
      "{}\nFitted to measurements; errors are those of the "
      "validation part, by which the model was\nchosen:\n{}",
      families.ToString(), table.ToString());
}

Result<std::string> ModelsJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("families").BeginArray();
  for (const cost::Family& family : cost::Families()) {
    json.String(family.name);
  }
  json.EndArray();
  json.Key("models").BeginArray();
  RETURN_IF_ERROR(
      ForEachModel([&](const hw::Device& gpu, const cost::FittedModel& model) {
        json.BeginObject();
        json.Key("gpu").String(gpu.name);
        json.Key("family").String(model.family);
        json.Key("variant").String(cost::Name(model.variant));
        json.Key("chosen").String(model.chosen);
        json.Key("validation_gmae_pct").BeginObject();
        for (const cost::Candidate& candidate : model.candidates) {
          json.Key(candidate.name).Double(candidate.gmae_pct);
        }
        json.EndObject().EndObject();
      }));
  json.EndArray().EndObject();
  return json.Take();
}

Result<std::string> PlatformsText() {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight,
                   Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"name", "title", "gpu", "GPUs", "links", "GB/s", "PCIe GB/s",
                "NIC GB/s"});
  ASSIGN_OR_RETURN(const std::vector<hw::Node> platforms, hw::LoadPlatforms());
  for (const hw::Node& platform : platforms) {
    const double nic = hw::NicGbsPerGpu(platform, platform.devices);
    table.AddRow(
        {platform.name, platform.title, platform.gpu,
         fmt::format("{}", platform.devices),
         std::string(hw::Name(platform.layout)),
         platform.link_gbs > 0 ? fmt::format("{:.0f}", platform.link_gbs) : "-",
         fmt::format("{:.1f}", platform.pcie_gbs),
         nic > 0 ? fmt::format("{:.2f}", nic) : "-"});
  }
  return fmt::format("{}GB/s: of one GPU in one direction\n", table.ToString());
}

Result<std::string> PlatformsJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("platforms").BeginArray();
  ASSIGN_OR_RETURN(const std::vector<hw::Node> platforms, hw::LoadPlatforms());
  for (const hw::Node& platform : platforms) {
    json.BeginObject();
    json.Key("name").String(platform.name);
    json.Key("title").String(platform.title);
    json.Key("gpu").String(platform.gpu);
    json.Key("layout").String(hw::Name(platform.layout));
    json.Key("rails").Bool(platform.rails);
    json.Key("switch_reduction").Bool(platform.switch_reduction);
    WritePublished(json, hw::MachineKind::kPlatform, platform.figures,
                   platform.derived);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
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
                     static_cast<double>(rows) / 1e6,
                     workload::EmbeddingWidth(model), model.dense_features);
}

Result<std::string> WorkloadsText() {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft});
  table.AddRow({"name", "kind", "batch", "size"});
  ASSIGN_OR_RETURN(const std::vector<workload::Model> models,
                   workload::LoadModels());
  for (const workload::Model& model : models) {
    table.AddRow({model.name, std::string(workload::Name(model.kind)),
                  fmt::format("{}", model.batch), SizeOf(model)});
  }
  TextTable implementations({Align::kLeft, Align::kLeft});
  for (const auto& implementation : workload::Implementations()) {
    implementations.AddRow(
        {std::string(implementation.name), std::string(implementation.help)});
  }
  return fmt::format("{}\nImplementations:\n{}", table.ToString(),
                     implementations.ToString());
}

Result<std::string> WorkloadsJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("workloads").BeginArray();
  ASSIGN_OR_RETURN(const std::vector<workload::Model> models,
                   workload::LoadModels());
  for (const workload::Model& model : models) {
    json.BeginObject();
    json.Key("name").String(model.name);
    json.Key("kind").String(workload::Name(model.kind));
    json.Key("batch").Int(model.batch);
    json.Key("tables").Int(workload::TableCount(model));
    json.Key("source").String(model.source);
    json.EndObject();
  }
  json.EndArray();
  json.Key("implementations").BeginArray();
  for (const auto& implementation : workload::Implementations()) {
    json.BeginObject();
    json.Key("name").String(implementation.name);
    json.Key("description").String(implementation.help);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

// What a change can be asked of.
std::string_view AppliesTo(const whatif::ChangeKind& kind) {
  return kind.edit != nullptr ? "models and traces" : "models";
}

Result<std::string> ChangesText() {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  table.AddRow({"name", "value", "applies to", "what it does"});
  for (const whatif::ChangeKind& kind : whatif::Changes()) {
    table.AddRow({std::string(kind.name), std::string(kind.arguments),
                  std::string(AppliesTo(kind)), std::string(kind.help)});
  }
  return table.ToString();
}

Result<std::string> ChangesJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("changes").BeginArray();
  for (const whatif::ChangeKind& kind : whatif::Changes()) {
    json.BeginObject();
    json.Key("name").String(kind.name);
    json.Key("value").String(kind.arguments);
    json.Key("models").Bool(true);
    json.Key("traces").Bool(kind.edit != nullptr);
    json.Key("description").String(kind.help);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

// One kind of thing that can be listed.
struct Listing {
  std::string_view name;
  Result<std::string> (*text)() = nullptr;
  Result<std::string> (*json)() = nullptr;
};

constexpr Listing kListings[] = {
    {.name = "formats", .text = FormatsText, .json = FormatsJson},
    {.name = "gpus", .text = GpusText, .json = GpusJson},
    {.name = "models", .text = ModelsText, .json = ModelsJson},
    {.name = "workloads", .text = WorkloadsText, .json = WorkloadsJson},
    {.name = "platforms", .text = PlatformsText, .json = PlatformsJson},
    {.name = "servers", .text = ServersText, .json = ServersJson},
    {.name = "figures", .text = FiguresText, .json = FiguresJson},
    {.name = "overheads", .text = OverheadsText, .json = OverheadsJson},
    {.name = "changes", .text = ChangesText, .json = ChangesJson},
    {.name = "studies", .text = StudiesText, .json = StudiesJson},
    {.name = "settings", .text = SettingsText, .json = SettingsJson},
};

}  // namespace

Status RunList(const Words& words) {
  OptionParser parser("list", "Lists what is built in, one line each.",
                      "  stepcast list gpus\n"
                      "  stepcast list formats --json");
  std::vector<std::string> names;
  bool json = false;
  parser.Add("WHAT", names,
             "formats: that can be read and "
             "written; gpus: what we know of each; models: who "
             "answers for which kernels; workloads: to predict; platforms: "
             "with GPUs; servers: without; figures: of all of them; overheads: "
             "hosts; changes: that "
             "whatif knows; studies: to explore");
  parser.AddFlag("--json", json, "print one JSON object instead");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  std::vector<std::string_view> known;
  for (const Listing& listing : kListings) {
    known.push_back(listing.name);
  }
  if (names.size() != 1) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("list takes one word, not {}; expected {}",
                            names.size(), OneOf(known)));
  }
  for (const Listing& listing : kListings) {
    if (listing.name == names.front()) {
      ASSIGN_OR_RETURN(const std::string out,
                       json ? listing.json() : listing.text());
      return Print(out);
    }
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("word", names.front(), known));
}

}  // namespace stepcast::cli
