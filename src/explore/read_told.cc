#include "explore/read_told.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "explore/columns.h"
#include "explore/read_settings.h"
#include "explore/row.h"
#include "explore/where.h"

namespace stepcast::explore {
namespace {

constexpr std::string_view kReportKeys[] = {"columns"};
constexpr std::string_view kChartKeys[] = {"kind",   "title", "x",     "y",
                                           "series", "where", "log_x", "log_y"};
constexpr std::string_view kParetoKeys[] = {"more", "less"};
constexpr std::string_view kSensitivityKeys[] = {"name", "metric", "of",
                                                 "against", "inputs"};
constexpr std::string_view kInputKeys[] = {"setting", "low", "high", "why"};
constexpr std::string_view kChartKinds[] = {"lines", "bars", "points"};

Status CheckColumn(const toml::node& node, const std::string& name,
                   const Study& study) {
  const std::vector<std::string> names = ColumnNames(study);
  if (std::ranges::find(names, name) != names.end()) {
    return {};
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return FailAt(node, Unknown("column", name, views));
}

// A member that names a column; left out: `otherwise`.
Result<std::string> Column(const toml::table& table, std::string_view key,
                           std::string_view otherwise, const Study& study) {
  ASSIGN_OR_RETURN(std::string name, GetOptionalString(table, key));
  if (name.empty()) {
    return std::string(otherwise);
  }
  RETURN_IF_ERROR(CheckColumn(*table.get(key), name, study));
  return name;
}

// The same of a column with numbers.
Result<std::string> NumberName(const toml::table& table, std::string_view key,
                               std::string_view otherwise) {
  ASSIGN_OR_RETURN(std::string name, GetOptionalString(table, key));
  if (name.empty()) {
    return std::string(otherwise);
  }
  std::vector<std::string_view> names;
  for (const NumberColumn& column : NumberColumns()) {
    names.push_back(column.name);
  }
  if (std::ranges::find(names, name) == names.end()) {
    return FailAt(*table.get(key), Unknown("column", name, names));
  }
  return name;
}

// Sections of a list; empty where there are none.
Result<std::vector<const toml::table*>> Sections(const toml::table& table,
                                                 std::string_view key) {
  std::vector<const toml::table*> sections;
  const toml::node* const node = table.get(key);
  if (node == nullptr) {
    return sections;
  }
  const toml::array* const list = node->as_array();
  if (list == nullptr ||
      !std::ranges::all_of(
          *list, [](const toml::node& item) { return item.is_table(); })) {
    return FailAt(*node,
                  fmt::format("{0} are no sections; expected [[{0}]]", key));
  }
  for (const toml::node& item : *list) {
    sections.push_back(item.as_table());
  }
  return sections;
}

Result<bool> Flag(const toml::table& table, std::string_view key) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) {
    return false;
  }
  if (!node->is_boolean()) {
    return FailAt(*node,
                  fmt::format("{} is no truth; expected true or false", key));
  }
  return node->as_boolean()->get();
}

Status ReadColumns(const toml::table& file, Study& study) {
  const toml::node* const node = file.get("report");
  if (node == nullptr) {
    return {};
  }
  if (!node->is_table()) {
    return FailAt(*node, "report is no section; expected [report]");
  }
  const toml::table& table = *node->as_table();
  RETURN_IF_ERROR(CheckKnown(table, "key of [report]", kReportKeys));
  ASSIGN_OR_RETURN(study.columns, GetStrings(table, "columns"));
  for (const std::string& name : study.columns) {
    RETURN_IF_ERROR(CheckColumn(*table.get("columns"), name, study));
  }
  return {};
}

Status ReadCharts(const toml::table& file, Study& study) {
  ASSIGN_OR_RETURN(const auto sections, Sections(file, "charts"));
  for (const toml::table* section : sections) {
    RETURN_IF_ERROR(CheckKnown(*section, "key of [[charts]]", kChartKeys));
    ChartSpec chart;
    ASSIGN_OR_RETURN(const std::string kind,
                     GetOptionalString(*section, "kind"));
    const auto found = std::ranges::find(kChartKinds, kind);
    if (!kind.empty() && found == std::end(kChartKinds)) {
      return FailAt(*section->get("kind"), Unknown("chart", kind, kChartKinds));
    }
    chart.kind =
        kind.empty()
            ? ChartSpec::Kind::kLines
            : static_cast<ChartSpec::Kind>(found - std::begin(kChartKinds));
    ASSIGN_OR_RETURN(chart.title, GetOptionalString(*section, "title"));
    ASSIGN_OR_RETURN(chart.x, Column(*section, "x", "", study));
    if (chart.x.empty()) {
      return FailAt(*section, "a chart without x; expected a column");
    }
    ASSIGN_OR_RETURN(chart.y, NumberName(*section, "y", "samples_per_s"));
    ASSIGN_OR_RETURN(chart.series, Column(*section, "series", "", study));
    ASSIGN_OR_RETURN(chart.where, GetOptionalString(*section, "where"));
    if (!chart.where.empty()) {
      const auto where = Where::Parse(chart.where, ColumnNames(study));
      if (!where) {
        return FailAt(*section->get("where"), where.error().message);
      }
    }
    ASSIGN_OR_RETURN(chart.log_x, Flag(*section, "log_x"));
    ASSIGN_OR_RETURN(chart.log_y, Flag(*section, "log_y"));
    study.charts.push_back(std::move(chart));
  }
  return {};
}

Status ReadPareto(const toml::table& file, Study& study) {
  const toml::node* const node = file.get("pareto");
  if (node == nullptr) {
    return {};
  }
  if (!node->is_table()) {
    return FailAt(*node, "pareto is no section; expected [pareto]");
  }
  const toml::table& table = *node->as_table();
  RETURN_IF_ERROR(CheckKnown(table, "key of [pareto]", kParetoKeys));
  ASSIGN_OR_RETURN(study.pareto.more,
                   NumberName(table, "more", study.pareto.more));
  ASSIGN_OR_RETURN(study.pareto.less, NumberName(table, "less", ""));
  return {};
}

Result<std::vector<Setting>> FindPoint(const toml::node& node,
                                       const Study& study) {
  const auto points =
      std::ranges::find(study.axes, std::string_view("point"), &Axis::name);
  if (points == study.axes.end()) {
    return FailAt(node,
                  "no points to name; expected settings, as in { batch = 100 "
                  "}");
  }
  const std::string name = node.value<std::string>().value_or("");
  std::vector<std::string_view> names;
  for (const AxisValue& value : points->values) {
    if (value.label == name) {
      return value.settings;
    }
    names.push_back(value.label);
  }
  return FailAt(node, Unknown("point", name, names));
}

// A point by its name, or settings; with the base's around them.
Result<std::vector<Setting>> ReadSubject(const toml::node& node,
                                         const Study& study) {
  ASSIGN_OR_RETURN(const std::vector<Setting> own,
                   node.is_table() ? ReadSettings(*node.as_table())
                                   : FindPoint(node, study));
  std::vector<Setting> merged = Merge({&study.base, &own});
  if (merged.empty() || merged.front().kind != kModelSetting) {
    return FailAt(node, "no model; expected one, as in { model = \"NAME\" }");
  }
  return merged;
}

Result<UncertainInput> ReadInput(const toml::table& table) {
  RETURN_IF_ERROR(CheckKnown(table, "key of an input", kInputKeys));
  ASSIGN_OR_RETURN(const std::string name, GetString(table, "setting"));
  UncertainInput input;
  ASSIGN_OR_RETURN(input.why, GetOptionalString(table, "why"));
  const toml::key key(name, table.get("setting")->source());
  for (const auto& [end, member] : {std::pair{"low", &UncertainInput::low},
                                    std::pair{"high", &UncertainInput::high}}) {
    const toml::node* const node = table.get(end);
    if (node == nullptr) {
      return FailAt(table, fmt::format("input {} has no '{}'; expected a value",
                                       name, end));
    }
    ASSIGN_OR_RETURN(input.*member, ReadSetting(key, *node));
  }
  return input;
}

Status ReadSensitivities(const toml::table& file, Study& study) {
  ASSIGN_OR_RETURN(const auto sections, Sections(file, "sensitivity"));
  for (const toml::table* section : sections) {
    RETURN_IF_ERROR(
        CheckKnown(*section, "key of [[sensitivity]]", kSensitivityKeys));
    Sensitivity sensitivity;
    ASSIGN_OR_RETURN(sensitivity.name, GetString(*section, "name"));
    ASSIGN_OR_RETURN(sensitivity.metric,
                     NumberName(*section, "metric", sensitivity.metric));
    const toml::node* const of = section->get("of");
    if (of == nullptr) {
      return FailAt(*section,
                    "a sensitivity without 'of'; expected a point "
                    "or settings");
    }
    ASSIGN_OR_RETURN(sensitivity.of, ReadSubject(*of, study));
    if (const toml::node* const against = section->get("against")) {
      ASSIGN_OR_RETURN(sensitivity.against, ReadSubject(*against, study));
      sensitivity.is_ratio = true;
    }
    ASSIGN_OR_RETURN(const auto inputs, Sections(*section, "inputs"));
    for (const toml::table* table : inputs) {
      ASSIGN_OR_RETURN(UncertainInput input, ReadInput(*table));
      sensitivity.inputs.push_back(std::move(input));
    }
    if (sensitivity.inputs.empty()) {
      return FailAt(*section,
                    "a sensitivity without inputs; expected one or "
                    "more, as in { setting = \"batch\", low = 1, "
                    "high = 2 }");
    }
    study.sensitivities.push_back(std::move(sensitivity));
  }
  return {};
}

}  // namespace

Status ReadTold(const toml::table& file, Study& study) {
  RETURN_IF_ERROR(ReadColumns(file, study));
  RETURN_IF_ERROR(ReadCharts(file, study));
  RETURN_IF_ERROR(ReadPareto(file, study));
  return ReadSensitivities(file, study);
}

}  // namespace stepcast::explore
