#include "explore/read_settings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "base/text/nearest.h"

namespace stepcast::explore {
namespace {

constexpr std::string_view kRangeKeys[] = {"from", "to", "steps", "scale"};
// Values of one axis, far above what a chart can show.
constexpr int64_t kMostSteps = 1'000'000;

int64_t LineOf(const toml::node& node) {
  return static_cast<int64_t>(node.source().begin.line);
}

tl::unexpected<Error> FailAtKey(const toml::key& key,
                                std::string_view message) {
  const toml::source_region& region = key.source();
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}:{}: {}", region.path ? *region.path : "TOML",
                          region.begin.line, message));
}

Result<size_t> FindKindAt(const toml::key& key) {
  if (const auto kind = FindKind(key.str())) {
    const scenario::Setting& setting = scenario::Settings()[*kind];
    if (setting.IsList() && *kind != kModelSetting) {
      return FailAtKey(key, fmt::format("{} is the same in all rows; expected "
                                        "--{} of the command where it has one",
                                        setting.name, setting.name));
    }
    return *kind;
  }
  return FailAtKey(key, scenario::UnknownSetting(key.str()));
}

Result<SettingValue> ReadValue(const scenario::Setting& kind,
                               const toml::node& node) {
  SettingValue value;
  if (node.is_string()) {
    const toml::source_path_ptr& file = node.source().path;
    value.text = scenario::SeenFrom(file ? *file : std::string(), kind,
                                    node.as_string()->get());
    // A number with its unit.
    const auto parsed = scenario::ParseValue(kind, value.text);
    if (kind.type != scenario::ValueType::kWord && parsed) {
      value = NumberValue(kind.type, parsed->number);
    }
  } else if (node.is_boolean() && kind.IsFlag()) {
    value.text = node.as_boolean()->get() ? "true" : "false";
  } else if (node.is_number()) {
    const double number = node.value<double>().value_or(0);
    value = NumberValue(scenario::ValueType::kNumber, number);
    if (number == std::round(number)) {
      value = NumberValue(scenario::ValueType::kWhole, number);
    }
  } else {
    return FailAt(node, fmt::format("{} is neither number nor text; expected "
                                    "one: {}",
                                    kind.Key(), kind.help));
  }
  if (const auto status = CheckValue(kind, value); !status) {
    return FailAt(node, status.error().message);
  }
  return value;
}

Axis AxisOf(size_t kind, int64_t line) {
  return {.name = scenario::Settings()[kind].Key(), .line = line};
}

void AddValue(size_t kind, SettingValue value, int64_t line, Axis& axis) {
  AxisValue added;
  added.label = value.text;
  added.settings.push_back(
      {.kind = kind, .value = std::move(value), .line = line});
  axis.values.push_back(std::move(added));
}

struct Range {
  double from = 0;
  double to = 0;
  bool is_log = false;
  int64_t steps = 0;  // 0: not given.

  double At(double share) const {
    return is_log ? from * std::pow(to / from, share)
                  : from + (to - from) * share;
  }
};

Result<Range> ReadRange(const scenario::Setting& kind,
                        const toml::table& table) {
  RETURN_IF_ERROR(CheckKnown(table, "key of a range", kRangeKeys));
  Range range;
  for (const auto& [name, member] :
       {std::pair{"from", &Range::from}, std::pair{"to", &Range::to}}) {
    const toml::node* const node = table.get(name);
    if (node == nullptr) {
      return FailAt(table, fmt::format("the range of {} has no '{}'; expected "
                                       "a number",
                                       kind.Key(), name));
    }
    ASSIGN_OR_RETURN(const SettingValue value, ReadValue(kind, *node));
    if (!value.number) {
      return FailAt(*node, fmt::format("{} is not a number; expected a list "
                                       "of values",
                                       kind.Key()));
    }
    range.*member = *value.number;
  }
  ASSIGN_OR_RETURN(const std::string scale, GetOptionalString(table, "scale"));
  if (!scale.empty() && scale != "log" && scale != "linear") {
    return FailAt(*table.get("scale"),
                  fmt::format("scale is '{}'; expected log or linear", scale));
  }
  range.is_log = scale == "log";
  if (const toml::node* const node = table.get("steps")) {
    const auto steps = node->value<int64_t>();
    if (!steps || *steps < 1 || *steps > kMostSteps) {
      return FailAt(*node, fmt::format("steps is not a number of values; "
                                       "expected an integer from 1 to {}",
                                       kMostSteps));
    }
    range.steps = *steps;
  }
  if (!(range.from < range.to) || (range.is_log && range.from <= 0)) {
    return FailAt(table, fmt::format("{} goes from {} to {}; expected 'from' "
                                     "below 'to'{}",
                                     kind.Key(), range.from, range.to,
                                     range.is_log ? ", both above 0" : ""));
  }
  return range;
}

}  // namespace

Status CheckKnown(const toml::table& table, std::string_view what,
                  std::span<const std::string_view> known) {
  for (const auto& [key, value] : table) {
    if (std::ranges::find(known, key.str()) == known.end()) {
      return FailAtKey(key, Unknown(what, key.str(), known));
    }
  }
  return {};
}

Result<Setting> ReadSetting(const toml::key& key, const toml::node& node) {
  ASSIGN_OR_RETURN(const size_t kind, FindKindAt(key));
  ASSIGN_OR_RETURN(SettingValue value,
                   ReadValue(scenario::Settings()[kind], node));
  return Setting{.kind = kind, .value = std::move(value), .line = LineOf(node)};
}

Result<std::vector<Setting>> ReadSettings(
    const toml::table& table, std::span<const std::string_view> except) {
  std::vector<Setting> settings;
  for (const auto& [key, node] : table) {
    if (std::ranges::find(except, key.str()) == except.end()) {
      ASSIGN_OR_RETURN(Setting setting, ReadSetting(key, node));
      settings.push_back(std::move(setting));
    }
  }
  return settings;
}

Result<Axis> ReadAxis(const toml::key& key, const toml::node& node,
                      int64_t usual_steps, uint64_t seed) {
  ASSIGN_OR_RETURN(const size_t number, FindKindAt(key));
  const scenario::Setting& kind = scenario::Settings()[number];
  Axis axis = AxisOf(number, LineOf(node));
  if (const toml::array* const list = node.as_array()) {
    for (const toml::node& item : *list) {
      ASSIGN_OR_RETURN(SettingValue value, ReadValue(kind, item));
      AddValue(number, std::move(value), LineOf(item), axis);
    }
    if (list->empty()) {
      return FailAtKey(key, fmt::format("axis {} is empty; expected one value "
                                        "or more",
                                        kind.Key()));
    }
    return axis;
  }
  if (!node.is_table()) {
    return FailAt(node, fmt::format("axis {} is neither list nor range; "
                                    "expected [a, b] or {{ from = a, to = b, "
                                    "steps = n }}",
                                    kind.Key()));
  }
  ASSIGN_OR_RETURN(const Range range, ReadRange(kind, *node.as_table()));
  if (range.steps == 0 && usual_steps == 0) {
    return FailAt(node, fmt::format("the range of {} has no 'steps'; expected "
                                    "the number of values of a grid",
                                    kind.Key()));
  }
  const int64_t steps = range.steps > 0 ? range.steps : usual_steps;
  Rng rng(seed ^ (number + 1));
  constexpr uint64_t kFine = uint64_t{1} << 32;
  for (int64_t i = 0; i < steps; ++i) {
    // Given steps have both ends; strata a random place within each.
    const double place =
        range.steps > 0
            ? (steps == 1
                   ? 0
                   : static_cast<double>(i) / static_cast<double>(steps - 1))
            : (static_cast<double>(i) + static_cast<double>(rng.Below(kFine)) /
                                            static_cast<double>(kFine)) /
                  static_cast<double>(steps);
    AddValue(number, NumberValue(kind.type, range.At(place)), axis.line, axis);
  }
  return axis;
}

}  // namespace stepcast::explore
