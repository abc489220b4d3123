#include "explore/read_study.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/catalog.h"
#include "base/files/file.h"
#include "base/files/toml_read.h"
#include "base/result.h"
#include "base/text/join.h"
#include "base/text/nearest.h"
#include "base/text/string_pool.h"
#include "base/text/text_table.h"
#include "explore/read_settings.h"
#include "explore/row.h"
#include "explore/study.h"
#include "explore/where.h"
#include "scenario/resolve.h"

namespace stepcast {

std::span<const EmbeddedFile> StudyFileTexts();

}  // namespace stepcast

namespace stepcast::explore {

namespace {

// What a study says depends on the files that it names and on the limit.
struct StudyText {
  std::string source;
  std::string text;
};

const Catalog<StudyText>& Studies() {
  static const Catalog<StudyText> studies(
      {.what = "study", .files = StudyFileTexts()},
      [](std::string_view text, std::string_view source) {
        return Result<StudyText>({std::string(source), std::string(text)});
      });
  return studies;
}

}  // namespace

const std::vector<std::string>& StudyNames() {
  return Studies().names();
}

Result<Study> FindStudy(std::string_view text, int64_t limit) {
  ASSIGN_OR_RETURN(const StudyText* study, Studies().Find(text));
  return ParseStudy(study->text, study->source, limit);
}

namespace {

// The parts of study files that say what is reported: columns, charts, the
// Pareto front, and how sensitive conclusions are to uncertain inputs.

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
    return FailAt(
        *node,
        fmt::format("{0} is not a list of sections; expected [[{0}]]", key));
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
    return FailAt(
        *node, fmt::format("{} is not a boolean; expected true or false", key));
  }
  return node->as_boolean()->get();
}

Status ReadColumns(const toml::table& file, Study& study) {
  const toml::node* const node = file.get("report");
  if (node == nullptr) {
    return {};
  }
  if (!node->is_table()) {
    return FailAt(*node, "report is not a section; expected [report]");
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
    return FailAt(*node, "pareto is not a section; expected [pareto]");
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

Status ReadPresentation(const toml::table& file, Study& study) {
  RETURN_IF_ERROR(ReadColumns(file, study));
  RETURN_IF_ERROR(ReadCharts(file, study));
  RETURN_IF_ERROR(ReadPareto(file, study));
  return ReadSensitivities(file, study);
}

constexpr std::string_view kKeys[] = {
    "name",    "title",  "source", "notes",  "model",
    "models",  "base",   "vary",   "points", "design",
    "samples", "report", "charts", "pareto", "sensitivity"};
constexpr std::string_view kDesignKeys[] = {"method", "points", "seed"};
constexpr std::string_view kPointKeys[] = {"name"};
constexpr int64_t kMostSamples = 10'000;

// A whole number of a table; left out: `otherwise`.
Result<int64_t> Whole(const toml::table& table, std::string_view key,
                      int64_t otherwise, int64_t least, int64_t most) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) {
    return otherwise;
  }
  const auto number =
      node->is_integer() ? node->value<int64_t>() : std::optional<int64_t>();
  if (!number || *number < least || *number > most) {
    return FailAt(*node, fmt::format("{} is no such number; expected a whole "
                                     "number from {} to {}",
                                     key, least, most));
  }
  return *number;
}

// A member that must be a section; null: there is none.
Result<const toml::table*> Section(const toml::table& table,
                                   std::string_view key) {
  const toml::node* const node = table.get(key);
  if (node != nullptr && !node->is_table()) {
    return FailAt(*node,
                  fmt::format("{0} is not a section; expected [{0}]", key));
  }
  return node == nullptr ? nullptr : node->as_table();
}

Status ReadDesign(const toml::table& file, int64_t limit, Study& study) {
  ASSIGN_OR_RETURN(const toml::table* table, Section(file, "design"));
  if (table == nullptr) {
    return {};
  }
  RETURN_IF_ERROR(CheckKnown(*table, "key of [design]", kDesignKeys));
  ASSIGN_OR_RETURN(const std::string method,
                   GetOptionalString(*table, "method"));
  if (method == "latin-hypercube") {
    study.design = Design::kLatinHypercube;
  } else if (!method.empty() && method != "grid") {
    return FailAt(*table->get("method"),
                  fmt::format("method is '{}'; expected grid or "
                              "latin-hypercube",
                              method));
  }
  constexpr int64_t kMostSeed = INT64_MAX;
  ASSIGN_OR_RETURN(const int64_t seed, Whole(*table, "seed", 1, 0, kMostSeed));
  study.seed = static_cast<uint64_t>(seed);
  ASSIGN_OR_RETURN(study.points, Whole(*table, "points", 0, 1, limit));
  if (study.design == Design::kLatinHypercube && study.points == 0) {
    return FailAt(*table,
                  "a Latin hypercube without points; expected how "
                  "many, as in points = 1000");
  }
  return {};
}

// The axis of the models: `model = "a"` or `models = ["a", "b"]`.
Status ReadModels(const toml::table& file, Study& study) {
  const toml::node* const one = file.get("model");
  const toml::node* const many = file.get("models");
  if (one != nullptr && many != nullptr) {
    return FailAt(*many, "both 'model' and 'models'; expected one of them");
  }
  if (one != nullptr) {
    ASSIGN_OR_RETURN(Setting setting, ReadSetting(toml::key("model"), *one));
    study.base.push_back(std::move(setting));
  }
  if (many != nullptr) {
    if (!many->is_array()) {
      return FailAt(*many, "models is not a list; expected names or files");
    }
    if (many->as_array()->empty()) {
      return FailAt(*many, "axis model is empty; expected one value or more");
    }
    ASSIGN_OR_RETURN(Axis axis, ReadAxis(toml::key("model"), *many, 0, 0));
    study.axes.push_back(std::move(axis));
  }
  return {};
}

Status ReadPoints(const toml::table& file, Study& study) {
  const toml::node* const node = file.get("points");
  if (node == nullptr) {
    return {};
  }
  if (!node->is_array_of_tables()) {
    return FailAt(*node,
                  "points is not a list of sections; expected [[points]]");
  }
  Axis axis{.name = "point",
            .line = static_cast<int64_t>(node->source().begin.line)};
  for (const toml::node& item : *node->as_array()) {
    const toml::table& section = *item.as_table();
    AxisValue value;
    ASSIGN_OR_RETURN(value.label, GetOptionalString(section, "name"));
    if (value.label.empty()) {
      value.label = fmt::format("{}", axis.values.size() + 1);
    }
    if (std::ranges::find(axis.values, value.label, &AxisValue::label) !=
        axis.values.end()) {
      return FailAt(section, fmt::format("two points are called '{}'; expected "
                                         "another name",
                                         value.label));
    }
    ASSIGN_OR_RETURN(value.settings, ReadSettings(section, kPointKeys));
    axis.values.push_back(std::move(value));
  }
  study.axes.push_back(std::move(axis));
  return {};
}

// In the order of the file: tables of toml++ are sorted by name.
Status ReadVary(const toml::table& file, Study& study) {
  ASSIGN_OR_RETURN(const toml::table* table, Section(file, "vary"));
  if (table == nullptr) {
    return {};
  }
  const int64_t strata =
      study.design == Design::kLatinHypercube ? study.points : 0;
  std::vector<Axis> axes;
  for (const auto& [key, node] : *table) {
    ASSIGN_OR_RETURN(Axis axis, ReadAxis(key, node, strata, study.seed));
    axis.line = static_cast<int64_t>(key.source().begin.line);
    axes.push_back(std::move(axis));
  }
  std::ranges::stable_sort(axes, {}, &Axis::line);
  for (Axis& axis : axes) {
    study.axes.push_back(std::move(axis));
  }
  return {};
}

Status CheckModels(const toml::table& file, const Study& study) {
  const auto names_model = [](const std::vector<Setting>& settings) {
    return std::ranges::find(settings, kModelSetting, &Setting::kind) !=
           settings.end();
  };
  const bool all =
      names_model(study.base) ||
      std::ranges::any_of(study.axes, [&](const Axis& axis) {
        return std::ranges::all_of(axis.values, [&](const AxisValue& value) {
          return names_model(value.settings);
        });
      });
  return all ? Status()
             : FailAt(file,
                      "rows without a model; expected 'model', 'models', "
                      "or one in each of [[points]]");
}

// The content of files that settings name.
void AddFiles(const std::vector<Setting>& settings, std::string& all) {
  for (const Setting& setting : settings) {
    const auto content = setting.value.text.ends_with(".toml")
                             ? ReadFile(setting.value.text)
                             : Result<std::string>();
    all += content.value_or("");
  }
}

// Whose rows they are depends on the text, and on files that it names.
uint64_t FingerprintOf(std::string_view text, const Study& study) {
  std::string all(text);
  AddFiles(study.base, all);
  for (const Axis& axis : study.axes) {
    for (const AxisValue& value : axis.values) {
      AddFiles(value.settings, all);
    }
  }
  return HashBytes(all);
}

Status CheckCount(const Study& study, int64_t limit) {
  const int64_t rows = RowCount(study);
  if (rows <= limit) {
    return {};
  }
  std::vector<std::string> sizes;
  int64_t line = 1;
  for (const Axis& axis : study.axes) {
    sizes.push_back(fmt::format("{} {}", axis.values.size(), axis.name));
    line = axis.line;
  }
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}:{}: {} rows ({}); expected {} or fewer, or "
                          "another --limit",
                          study.file, line,
                          rows == INT64_MAX ? "too many" : WithThousands(rows),
                          Join(sizes, " x "), WithThousands(limit)));
}

// Where a row says on which machine it runs.
int64_t MachineLine(const std::vector<Setting>& settings) {
  for (const std::string_view name :
       {"gpus", "nodes", "trainers", "server", "platform", "gpu"}) {
    for (const Setting& setting : settings) {
      if (KindOf(setting).name == name) {
        return setting.line;
      }
    }
  }
  return settings.front().line;
}

}  // namespace

Result<Study> ParseStudy(std::string_view text, std::string_view source,
                         int64_t limit) {
  ASSIGN_OR_RETURN(const toml::table file, ParseToml(text, source));
  RETURN_IF_ERROR(CheckKnown(file, "key", kKeys));
  Study study;
  study.file = source;
  ASSIGN_OR_RETURN(study.name, GetOptionalString(file, "name"));
  if (study.name.empty()) {
    study.name = std::filesystem::path(source).stem().string();
  }
  ASSIGN_OR_RETURN(study.title, GetOptionalString(file, "title"));
  ASSIGN_OR_RETURN(study.source, GetOptionalString(file, "source"));
  ASSIGN_OR_RETURN(study.notes, GetOptionalString(file, "notes"));
  ASSIGN_OR_RETURN(const int64_t samples,
                   Whole(file, "samples", 0, 0, kMostSamples));
  study.samples = static_cast<uint32_t>(samples);
  RETURN_IF_ERROR(ReadDesign(file, limit, study));
  ASSIGN_OR_RETURN(const toml::table* base, Section(file, "base"));
  if (base != nullptr) {
    ASSIGN_OR_RETURN(study.base, ReadSettings(*base));
    for (Setting& setting : study.base) {
      setting.shared = true;
    }
  }
  RETURN_IF_ERROR(ReadModels(file, study));
  RETURN_IF_ERROR(ReadPoints(file, study));
  RETURN_IF_ERROR(ReadVary(file, study));
  RETURN_IF_ERROR(CheckModels(file, study));
  RETURN_IF_ERROR(CheckCount(study, limit));
  RETURN_IF_ERROR(ReadPresentation(file, study));
  study.fingerprint = FingerprintOf(text, study);
  return study;
}

Status CheckRows(const Study& study) {
  const Designer designer(study);
  scenario::Resolver resolver;
  const int64_t rows = RowCount(study);
  for (int64_t row = 0; row < rows; ++row) {
    const std::vector<Setting> settings = designer.SettingsOf(row);
    const auto check = [&]() -> Status {
      ASSIGN_OR_RETURN(const scenario::Scenario asked, ScenarioOf(settings));
      return resolver.Resolve(asked).map([](const scenario::Job&) {});
    };
    if (const Status status = check(); !status) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}:{}: {}", study.file, MachineLine(settings),
                              status.error().message));
    }
  }
  return {};
}

}  // namespace stepcast::explore
