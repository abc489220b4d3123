#include "cli/list_overheads.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "base/json_write.h"
#include "base/text_table.h"
#include "cli/output.h"
#include "cost/overheads/overhead_files.h"
#include "cost/overheads/overhead_table.h"
#include "engine/predictor.h"
#include "workload/impl/implementations.h"

namespace stepcast::cli {
namespace {

// One set, told in a line.
struct OverheadSet {
  std::string name;
  std::string title;  // What it is of.
  int64_t rows = 0;   // Of its own, not of the shared set.
  double launch_us = 0;
  std::vector<std::string> provenance{};
  std::vector<std::string> implementations{};  // That take it by default.
};

// "Host overheads, by stepcast ..." says nothing of the set; the line behind it
// does.
std::string TitleOf(const std::vector<std::string>& provenance) {
  for (const std::string& line : provenance) {
    if (!line.starts_with("Host overheads, by stepcast")) {
      return line;
    }
  }
  return "";
}

Result<std::vector<OverheadSet>> LoadSets() {
  std::vector<OverheadSet> sets;
  for (const std::string& name : cost::OverheadNames()) {
    ASSIGN_OR_RETURN(const cost::OverheadData* own,
                     cost::FindOwnOverheads(name));
    ASSIGN_OR_RETURN(cost::OverheadData data, cost::LoadOverheads(name));
    OverheadSet set{.name = name,
                    .title = TitleOf(own->provenance),
                    .provenance = own->provenance};
    for (const cost::OverheadRows& rows : own->parts) {
      set.rows += std::ssize(rows);
    }
    const cost::OverheadTable table(std::move(data));
    set.launch_us = table.WithoutProfiler(
        table.Lookup(cost::OverheadPart::kCall, "launch cudaLaunchKernel").row);
    for (const auto& implementation : workload::Implementations()) {
      if (engine::DefaultOverheads(implementation.name) == name) {
        set.implementations.emplace_back(implementation.name);
      }
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace

Result<std::string> OverheadsText() {
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.AddRow({"name", "rows", "launch us", "default of", "what it is of"});
  ASSIGN_OR_RETURN(const std::vector<OverheadSet> sets, LoadSets());
  for (const OverheadSet& set : sets) {
    table.AddRow({set.name, fmt::format("{}", set.rows),
                  fmt::format("{:.1f}", set.launch_us),
                  set.implementations.empty()
                      ? "-"
                      : fmt::format("{}", fmt::join(set.implementations, ", ")),
                  set.title});
  }
  return fmt::format(
      "{}launch us: of one cudaLaunchKernel, without a profiler; parts that a "
      "set lacks are those of shared\n",
      table.ToString());
}

Result<std::string> OverheadsJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("overheads").BeginArray();
  ASSIGN_OR_RETURN(const std::vector<OverheadSet> sets, LoadSets());
  for (const OverheadSet& set : sets) {
    json.BeginObject();
    json.Key("name").String(set.name);
    json.Key("rows").Int(set.rows);
    json.Key("launch_us").Fixed(set.launch_us, 3);
    json.Key("implementations").BeginArray();
    for (const std::string& name : set.implementations) {
      json.String(name);
    }
    json.EndArray();
    json.Key("provenance").BeginArray();
    for (const std::string& line : set.provenance) {
      json.String(line);
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace stepcast::cli
