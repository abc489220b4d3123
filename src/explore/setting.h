// A setting of a study: a row of the table of settings, and its value.
#ifndef STEPCAST_EXPLORE_SETTING_H_
#define STEPCAST_EXPLORE_SETTING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "scenario/scenario.h"
#include "scenario/settings.h"

namespace stepcast::explore {

struct SettingValue {
  std::string text{};              // As shown: "4096", "host".
  std::optional<double> number{};  // Where it is one.
};

/// A setting with its value, and where a file says so.
struct Setting {
  size_t kind = 0;  // Its number in scenario::Settings().
  SettingValue value{};
  int64_t line = 0;
  /// All rows share it; those that it means nothing for do without.
  bool shared = false;
};

inline const scenario::Setting& KindOf(const Setting& setting) {
  return scenario::Settings()[setting.kind];
}

/// The number of the setting called so.
std::optional<size_t> FindKind(std::string_view name);

/// The number of the setting that names the model.
inline constexpr size_t kModelSetting = 0;

/// Fails for values that the kind can never have.
Status CheckValue(const scenario::Setting& kind, const SettingValue& value);

/// The value of a number as a setting has it: wholes are rounded.
SettingValue NumberValue(scenario::ValueType type, double number);

/// What all of them ask together.
Result<scenario::Scenario> ScenarioOf(std::span<const Setting> settings);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_SETTING_H_
