#include "explore/setting.h"

#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace stepcast::explore {

using scenario::ValueType;

std::optional<size_t> FindKind(std::string_view name) {
  const scenario::Setting* const found = scenario::FindSetting(name);
  return found == nullptr ? std::nullopt
                          : std::optional(scenario::IndexOf(*found));
}

Status CheckValue(const scenario::Setting& kind, const SettingValue& value) {
  if (kind.type != ValueType::kWord) {
    ASSIGN_OR_RETURN(const scenario::Value parsed,
                     scenario::ParseValue(kind, value.text));
    return {};
  }
  if (value.number) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} is {}; expected a word: {}", kind.Key(),
                            value.text, kind.help));
  }
  return kind.known == nullptr ? Status() : kind.known(value.text);
}

SettingValue NumberValue(ValueType type, double number) {
  if (type == ValueType::kWhole) {
    const double whole = std::round(number);
    return {.text = fmt::format("{:.0f}", whole), .number = whole};
  }
  // As many digits as are shown, so that a shown row can be asked for again.
  std::string text = fmt::format("{:.6g}", number);
  double shown = number;
  std::from_chars(text.data(), text.data() + text.size(), shown);
  return {.text = std::move(text), .number = shown};
}

Result<scenario::Scenario> ScenarioOf(std::span<const Setting> settings) {
  scenario::Scenario all;
  for (const Setting& setting : settings) {
    RETURN_IF_ERROR(
        scenario::SetValue(KindOf(setting), setting.value.text, all));
  }
  const scenario::Subject subject = scenario::SubjectOfModel(all);
  scenario::Scenario made;
  for (const Setting& setting : settings) {
    const scenario::Setting& kind = KindOf(setting);
    // The machine is what decides; it cannot be left out.
    const bool stays = !setting.shared || kind.subjects.Has(subject) ||
                       kind.section == scenario::Section::kMachine ||
                       kind.section == scenario::Section::kFleet;
    if (stays) {
      RETURN_IF_ERROR(scenario::SetValue(kind, setting.value.text, made));
    }
  }
  return made;
}

}  // namespace stepcast::explore
