#include "report/text_parts.h"

#include <array>

#include <fmt/format.h>

#include "base/text_table.h"

namespace stepcast::report {

std::string MillisecondsText(Duration time) {
  return fmt::format("{:.3f}", ToMilliseconds(time));
}

std::string MillisecondsText(double us) {
  return fmt::format("{:.3f}", us / 1e3);
}

std::string PercentText(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

std::string PercentText(Duration part, Duration whole) {
  if (whole <= Duration{}) {
    return "-";
  }
  return PercentText(static_cast<double>(part.count()) /
                     static_cast<double>(whole.count()));
}

std::string BytesText(Bytes bytes) {
  if (bytes.count <= 0) {
    return "-";
  }
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB",
                                                      "TB"};
  auto value = static_cast<double>(bytes.count);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string CountText(int64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", WithThousands(count), singular,
                     count == 1 ? "" : "s");
}

}  // namespace stepcast::report
