// What a study may set: one row a key of its file.
#ifndef STEPCAST_EXPLORE_SETTING_H_
#define STEPCAST_EXPLORE_SETTING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "explore/scenario.h"

namespace stepcast::explore {

enum class SettingType : uint8_t { kWhole, kNumber, kWord };

struct SettingValue {
  std::string text{};              // As shown: "4096", "host".
  std::optional<double> number{};  // Where it is one.
};

struct SettingKind {
  std::string_view name;
  std::string_view help;
  SettingType type = SettingType::kWhole;
  double least = 0;  // Of numbers.
  double most = 0;
  std::string_view unit{};  // Of numbers; empty: a count or a factor.
  /// Null for the model, which is found before all else.
  Status (*set)(const SettingValue& value, Scenario& scenario) = nullptr;
  /// Of words: fails for those that nothing is called. Null: `set` does so.
  Status (*check)(const std::string& word) = nullptr;
};

/// In the order in which they are applied.
std::span<const SettingKind> SettingKinds();

/// The number of the setting called so.
std::optional<size_t> FindSetting(std::string_view name);

/// Fails for values that the kind can never have.
Status CheckValue(const SettingKind& kind, const SettingValue& value);

/// The number of the setting that names the model.
inline constexpr size_t kModelSetting = 0;

/// The value of a number as a setting has it: wholes are rounded.
SettingValue NumberValue(SettingType type, double number);

/// A setting with its value, and where a file says so.
struct Setting {
  size_t kind = 0;
  SettingValue value{};
  int64_t line = 0;
};

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_SETTING_H_
