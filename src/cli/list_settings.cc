#include "cli/list_settings.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "base/json_write.h"
#include "base/text_table.h"
#include "cli/output.h"
#include "scenario/settings.h"

namespace stepcast::cli {
namespace {

constexpr std::array kSubjectNames = {
    std::pair{scenario::Subject::kModel, std::string_view("model")},
    std::pair{scenario::Subject::kServer, std::string_view("server")},
    std::pair{scenario::Subject::kFleet, std::string_view("fleet")},
    std::pair{scenario::Subject::kTrace, std::string_view("trace")},
};

std::vector<std::string_view> SubjectsOf(const scenario::Setting& setting) {
  std::vector<std::string_view> names;
  for (const auto& [subject, name] : kSubjectNames) {
    if (setting.subjects.Has(subject)) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace

Result<std::string> SettingsText() {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft,
                   Align::kLeft, Align::kLeft, Align::kLeft});
  table.AddRow(
      {"name", "also", "value", "unit", "applies to", "default", "what it is"});
  for (const scenario::Setting& setting : scenario::Settings()) {
    table.AddRow({std::string(setting.name), std::string(setting.alias),
                  std::string(setting.value), std::string(setting.unit),
                  fmt::format("{}", fmt::join(SubjectsOf(setting), ", ")),
                  std::string(setting.standard), std::string(setting.help)});
  }
  return fmt::format(
      "{}\nSet as `--name value`, in compare as `WORKLOAD@name=value`, in "
      "whatif as `--change name=value`,\nin studies and scenario files as "
      "`name = value`. Applies to: a model on GPUs, a model on servers\n"
      "without GPUs, a fleet of servers, a recorded step.\n",
      table.ToString());
}

Result<std::string> SettingsJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("settings").BeginArray();
  for (const scenario::Setting& setting : scenario::Settings()) {
    json.BeginObject();
    json.Key("name").String(setting.name);
    json.Key("alias").String(setting.alias);
    json.Key("value").String(setting.value);
    json.Key("unit").String(setting.unit);
    json.Key("section").String(scenario::Title(setting.section));
    json.Key("help").String(setting.help);
    json.Key("default").String(setting.standard);
    json.Key("example").String(setting.example);
    json.Key("applies_to").BeginArray();
    for (const std::string_view name : SubjectsOf(setting)) {
      json.String(name);
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace stepcast::cli
