#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace stepcast {
namespace {

enum class UnitKind : uint8_t { kTime, kBytes, kRate, kPower, kShare };

struct Unit {
  std::string_view name;
  UnitKind kind = UnitKind::kTime;
  double factor = 1;  // To the first unit of its kind.
};

constexpr double kKibi = 1024;
constexpr std::array kUnits = {
    Unit{.name = "ns", .kind = UnitKind::kTime, .factor = 1},
    Unit{.name = "us", .kind = UnitKind::kTime, .factor = 1e3},
    Unit{.name = "ms", .kind = UnitKind::kTime, .factor = 1e6},
    Unit{.name = "s", .kind = UnitKind::kTime, .factor = 1e9},
    Unit{.name = "B", .kind = UnitKind::kBytes, .factor = 1},
    Unit{.name = "kB", .kind = UnitKind::kBytes, .factor = 1e3},
    Unit{.name = "MB", .kind = UnitKind::kBytes, .factor = 1e6},
    Unit{.name = "GB", .kind = UnitKind::kBytes, .factor = 1e9},
    Unit{.name = "TB", .kind = UnitKind::kBytes, .factor = 1e12},
    Unit{.name = "KiB", .kind = UnitKind::kBytes, .factor = kKibi},
    Unit{.name = "MiB", .kind = UnitKind::kBytes, .factor = kKibi * kKibi},
    Unit{.name = "GiB",
         .kind = UnitKind::kBytes,
         .factor = kKibi * kKibi * kKibi},
    Unit{.name = "TiB",
         .kind = UnitKind::kBytes,
         .factor = kKibi * kKibi * kKibi * kKibi},
    Unit{.name = "MB/s", .kind = UnitKind::kRate, .factor = 1},
    Unit{.name = "GB/s", .kind = UnitKind::kRate, .factor = 1e3},
    Unit{.name = "TB/s", .kind = UnitKind::kRate, .factor = 1e6},
    // Networks are sold by the bit: 400 Gb/s are 50 GB/s.
    Unit{.name = "Gb/s", .kind = UnitKind::kRate, .factor = 1e3 / 8},
    Unit{.name = "Gbps", .kind = UnitKind::kRate, .factor = 1e3 / 8},
    Unit{.name = "W", .kind = UnitKind::kPower, .factor = 1},
    Unit{.name = "kW", .kind = UnitKind::kPower, .factor = 1e3},
    Unit{.name = "MW", .kind = UnitKind::kPower, .factor = 1e6},
    Unit{.name = "%", .kind = UnitKind::kShare, .factor = 1e-2},
    Unit{.name = "", .kind = UnitKind::kShare, .factor = 1},
};

const Unit* FindUnit(std::string_view name) {
  const auto* const found = std::ranges::find(kUnits, name, &Unit::name);
  return found == kUnits.end() ? nullptr : found;
}

std::string_view WithoutBlanks(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

// "a number of us, or of ns, ms, s".
std::string Expected(std::string_view unit, const Unit* wanted) {
  std::string others;
  for (const Unit& other : kUnits) {
    if (wanted != nullptr && other.kind == wanted->kind && other.name != unit &&
        !other.name.empty()) {
      others += fmt::format("{}{}", others.empty() ? "" : ", ", other.name);
    }
  }
  if (unit.empty()) {
    return "a number";
  }
  return others.empty() ? fmt::format("a number of {}", unit)
                        : fmt::format("a number of {}, or of {}", unit, others);
}

}  // namespace

bool IsUnit(std::string_view word) {
  return !word.empty() && FindUnit(word) != nullptr;
}

Result<double> ParseQuantity(std::string_view text, std::string_view unit) {
  const Unit* const wanted = FindUnit(unit);
  const auto wrong = [&] {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is not {}", text, Expected(unit, wanted)));
  };
  std::string_view number = WithoutBlanks(text);
  // "+3%" is how a growth is written.
  if (number.starts_with('+') && !number.starts_with("+-")) {
    number.remove_prefix(1);
  }
  double value = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc() || !std::isfinite(value)) {
    return wrong();
  }
  const std::string_view given =
      WithoutBlanks({stop, static_cast<size_t>(end - stop)});
  if (given.empty() || given == unit) {
    return value;
  }
  const Unit* const found = FindUnit(given);
  if (found == nullptr || wanted == nullptr || found->kind != wanted->kind) {
    return wrong();
  }
  return value * (found->factor / wanted->factor);
}

}  // namespace stepcast
