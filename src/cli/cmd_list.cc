// stepcast list: what is built in.
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/nearest.h"
#include "cli/commands.h"
#include "cli/list_docs.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "explore/read_study.h"
#include "scenario/settings.h"
#include "trace/read/formats.h"
#include "whatif/change.h"

namespace stepcast::cli {
namespace {

using view::Table;
using view::Value;

constexpr std::array kSubjectNames = {
    std::pair{scenario::Subject::kModel, "model"},
    std::pair{scenario::Subject::kServer, "server"},
    std::pair{scenario::Subject::kFleet, "fleet"},
    std::pair{scenario::Subject::kTrace, "trace"},
};

std::vector<std::string> SubjectsOf(const scenario::Setting& setting) {
  std::vector<std::string> names;
  for (const auto& [subject, name] : kSubjectNames) {
    if (setting.subjects.Has(subject)) {
      names.emplace_back(name);
    }
  }
  return names;
}

// One kind of thing that can be listed.
struct Listing {
  std::string_view name;
  std::string_view help;
  Result<view::Doc> (*list)() = nullptr;
};

constexpr Listing kListings[] = {
    {"formats", "of traces that can be read and written", ListFormats},
    {"gpus", "with their main figures", ListGpus},
    {"models", "of kernels, and where they apply", ListModels},
    {"workloads", "models to predict, and implementations", ListWorkloads},
    {"platforms", "servers with GPUs", ListPlatforms},
    {"servers", "servers without GPUs", ListServers},
    {"figures", "what GPUs, platforms and servers are described by",
     ListFigures},
    {"overheads", "hosts whose times are known", ListOverheads},
    {"changes", "for whatif", ListChanges},
    {"studies", "for explore", ListStudies},
    {"settings", "of predictions, with their defaults", ListSettings},
};

}  // namespace

view::Doc ListOf(Table table) {
  view::Doc doc;
  doc.title = std::exchange(table.title, "");
  doc.csv = table;
  doc.blocks.emplace_back(std::move(table));
  return doc;
}

Result<view::Doc> ListFormats() {
  Table read{.key = "read",
             .title = "formats that are read",
             .columns = {{.key = "name", .label = "name"},
                         {.key = "description", .label = "what it is"}}};
  Table write{.key = "write",
              .title = "formats that are written",
              .columns = {{.key = "name", .label = "name"},
                          {.key = "extensions", .label = "extensions"},
                          {.key = "description", .label = "what it is"}}};
  view::Doc doc;
  doc.title = "formats of traces";
  doc.csv.columns = {{.key = "use"},
                     {.key = "name"},
                     {.key = "extensions"},
                     {.key = "description"}};
  for (const trace::TraceFormat& format : trace::Formats()) {
    const std::string name(format.name);
    const std::string description(format.description);
    read.rows.push_back({name, description});
    doc.csv.rows.push_back({"read", name, Value(), description});
  }
  for (const OutputFormat& format : OutputFormats()) {
    const std::string name(format.name);
    const std::string extensions(format.extensions);
    const std::string description(format.description);
    write.rows.push_back({name, extensions, description});
    doc.csv.rows.push_back({"write", name, extensions, description});
  }
  doc.blocks = {std::move(read), std::move(write)};
  return doc;
}

Result<view::Doc> ListChanges() {
  Table table{.key = "changes",
              .title = "changes that whatif knows",
              .columns = {{.key = "name", .label = "name"},
                          {.key = "value", .label = "value"},
                          {.key = "models", .label = "of models"},
                          {.key = "traces", .label = "of traces"},
                          {.key = "description", .label = "what it does"}}};
  for (const whatif::ChangeKind& kind : whatif::Changes()) {
    table.rows.push_back({std::string(kind.name), std::string(kind.arguments),
                          true, kind.edit != nullptr, std::string(kind.help)});
  }
  return ListOf(std::move(table));
}

Result<view::Doc> ListStudies() {
  Table table{.key = "studies",
              .title = "studies to explore",
              .columns = {{.key = "name", .label = "name"},
                          {.key = "rows", .label = "rows"},
                          {.label = "axes"},
                          {.key = "axes"},
                          {.key = "title", .label = "title"},
                          {.key = "source"}}};
  for (const std::string& name : explore::StudyNames()) {
    ASSIGN_OR_RETURN(const explore::Study study, explore::FindStudy(name));
    std::vector<std::string> axes;
    std::vector<std::string> sizes;
    for (const explore::Axis& axis : study.axes) {
      axes.push_back(axis.name);
      sizes.push_back(fmt::format("{} {}", axis.values.size(), axis.name));
    }
    table.rows.push_back({name, explore::RowCount(study), Join(sizes, " x "),
                          axes, study.title, study.source});
  }
  return ListOf(std::move(table));
}

Result<view::Doc> ListSettings() {
  Table table{.key = "settings",
              .title = "settings of a prediction",
              .columns = {{.key = "name", .label = "name"},
                          {.key = "alias", .label = "also"},
                          {.key = "value", .label = "value"},
                          {.key = "unit", .label = "unit"},
                          {.key = "section"},
                          {.key = "applies_to", .label = "applies to"},
                          {.key = "default", .label = "default"},
                          {.key = "example"},
                          {.key = "help", .label = "what it is"}}};
  for (const scenario::Setting& setting : scenario::Settings()) {
    table.rows.push_back({std::string(setting.name), std::string(setting.alias),
                          std::string(setting.value), std::string(setting.unit),
                          std::string(scenario::Title(setting.section)),
                          SubjectsOf(setting), std::string(setting.standard),
                          std::string(setting.example),
                          std::string(setting.help)});
  }
  view::Doc doc = ListOf(std::move(table));
  doc.blocks.emplace_back(view::Text{
      .text = "Set as `--name value`, in compare as `WORKLOAD@name=value`, in "
              "whatif as `--change name=value`, in studies and scenario files "
              "as `name = value`. Applies to: a model on GPUs, a model on "
              "servers without GPUs, a fleet of servers, a recorded step."});
  return doc;
}

Status RunList(const Words& words) {
  OptionParser parser("list", "Lists what is built in, one line each.",
                      "  stepcast list gpus\n"
                      "  stepcast list formats --json");
  std::vector<std::string_view> known;
  std::vector<std::string> help;
  for (const Listing& listing : kListings) {
    known.push_back(listing.name);
    help.push_back(fmt::format("{}: {}", listing.name, listing.help));
  }
  std::vector<std::string> names;
  ReportOptions output;
  parser.Add("WHAT", names, Join(help, "; "));
  AddReportOptions(parser, output, "the list", "a row for each");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  RETURN_IF_ERROR(CheckReportOptions(output, {}));
  if (names.size() != 1) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("list takes one word, not {}; expected {}",
                            names.size(), OneOf(known)));
  }
  for (const Listing& listing : kListings) {
    if (listing.name == names.front()) {
      ASSIGN_OR_RETURN(view::Doc doc, listing.list());
      return WriteReport(std::move(doc), output);
    }
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("word", names.front(), known));
}

}  // namespace stepcast::cli
