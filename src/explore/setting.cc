#include "explore/setting.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace stepcast::explore {

std::optional<size_t> FindSetting(std::string_view name) {
  const std::span<const SettingKind> kinds = SettingKinds();
  const auto found = std::ranges::find(kinds, name, &SettingKind::name);
  if (found == kinds.end()) {
    return std::nullopt;
  }
  return static_cast<size_t>(found - kinds.begin());
}

Status CheckValue(const SettingKind& kind, const SettingValue& value) {
  if (kind.type == SettingType::kWord) {
    if (value.number) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is {}; expected a word: {}", kind.name,
                              value.text, kind.help));
    }
    return kind.check == nullptr ? Status() : kind.check(value.text);
  }
  const bool whole = kind.type == SettingType::kWhole;
  const bool good = value.number && *value.number >= kind.least &&
                    *value.number <= kind.most &&
                    (!whole || *value.number == std::round(*value.number));
  if (!good) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("{} is {}; expected a {} from {} to {}", kind.name,
                    value.number ? value.text : fmt::format("'{}'", value.text),
                    whole ? "whole number" : "number", kind.least, kind.most));
  }
  return {};
}

SettingValue NumberValue(SettingType type, double number) {
  if (type == SettingType::kWhole) {
    const double whole = std::round(number);
    return {.text = fmt::format("{:.0f}", whole), .number = whole};
  }
  // As many digits as are shown, so that a shown row can be asked for again.
  std::string text = fmt::format("{:.6g}", number);
  double shown = number;
  std::from_chars(text.data(), text.data() + text.size(), shown);
  return {.text = std::move(text), .number = shown};
}

}  // namespace stepcast::explore
