// Figures behind a machine's name, which replace those of its file:
// "zion@host_memory_gbs=500,nic_gbs=6".
#ifndef STEPCAST_HW_SET_FIGURES_H_
#define STEPCAST_HW_SET_FIGURES_H_

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/result.h"
#include "hw/gpu.h"

namespace stepcast::hw {

/// The source of such figures.
inline constexpr std::string_view kAskedFor = "as asked for";

/// The text before the figures.
inline std::string_view NameBeforeFigures(std::string_view text) {
  return text.substr(0, text.find('@'));
}

/// "nic_gbs=6": that figure of the machine, as if its file said so. `what` is
/// the machine in messages.
template <typename Fields, typename Machine>
Status SetFigure(std::string_view text, std::string_view what,
                 const Fields& fields, Machine& machine) {
  const size_t sign = text.find('=');
  if (sign == std::string_view::npos) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("'{}' behind a {}; expected KEY=VALUE", text, what));
  }
  const std::string_view key = text.substr(0, sign);
  const std::string_view number = text.substr(sign + 1);
  std::vector<std::string_view> keys;
  for (const auto& field : fields) {
    keys.push_back(field.key);
    if (field.key != key) {
      continue;
    }
    double value = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() ||
        !(value >= field.low && value <= field.high)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is '{}'; expected {} to {}{}{}", key, number,
                              field.low, field.high,
                              field.unit.empty() ? "" : " ", field.unit));
    }
    machine.*field.member =
        Figure{.value = value, .source = std::string(kAskedFor)};
    return {};
  }
  return Fail(ErrorCode::kInvalidInput,
              Unknown(fmt::format("figure of a {}", what), key, keys));
}

/// All figures that stand behind the name.
template <typename Fields, typename Machine>
Status SetFigures(std::string_view text, std::string_view what,
                  const Fields& fields, Machine& machine) {
  size_t at = text.find('@');
  while (at != std::string_view::npos) {
    text.remove_prefix(at + 1);
    at = text.find(',');
    RETURN_IF_ERROR(SetFigure(text.substr(0, at), what, fields, machine));
  }
  return {};
}

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_SET_FIGURES_H_
