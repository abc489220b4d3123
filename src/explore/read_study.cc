#include "explore/read_study.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/join.h"
#include "base/nearest.h"
#include "base/string_pool.h"
#include "base/text_table.h"
#include "base/toml_read.h"
#include "explore/read_settings.h"
#include "explore/read_told.h"
#include "scenario/resolve.h"

namespace stepcast::explore {
namespace {

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
    return FailAt(*node, fmt::format("{0} is no section; expected [{0}]", key));
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
      return FailAt(*many, "models is no list; expected names or files");
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
    return FailAt(*node, "points are no sections; expected [[points]]");
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
  RETURN_IF_ERROR(ReadTold(file, study));
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
