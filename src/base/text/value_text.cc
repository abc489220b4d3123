#include "base/text/value_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

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

namespace {

constexpr int kMostDepth = 16;

struct Word {
  std::string_view text;
  Value value;
};

// Both dialects, and the marks PyTorch writes for things it does not show.
const std::array<Word, 10>& Words() {
  using Kind = Value::Kind;
  static const std::array<Word, 10> words = {{
      {"true", {.kind = Kind::kBool, .integer = 1}},
      {"True", {.kind = Kind::kBool, .integer = 1}},
      {"false", {.kind = Kind::kBool}},
      {"False", {.kind = Kind::kBool}},
      {"null", {}},
      {"None", {}},
      {"nan", {.kind = Kind::kFloat, .number = NAN}},
      {"NaN", {.kind = Kind::kFloat, .number = NAN}},
      {"inf", {.kind = Kind::kFloat, .number = INFINITY}},
      {"Infinity", {.kind = Kind::kFloat, .number = INFINITY}},
  }};
  return words;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<Value> Parse(int depth) {
    SkipSpace();
    if (rest_.empty()) {
      return std::nullopt;
    }
    const char first = rest_.front();
    if (first == '[' || first == '(') {
      return depth < kMostDepth ? ParseList(first == '[' ? ']' : ')', depth)
                                : std::nullopt;
    }
    if (first == '"' || first == '\'') {
      return ParseString(first);
    }
    return ParseScalar();
  }

  bool AtEnd() {
    SkipSpace();
    return rest_.empty();
  }

 private:
  void SkipSpace() {
    const size_t at = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }

  bool Take(char c) {
    SkipSpace();
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<Value> ParseList(char close, int depth) {
    rest_.remove_prefix(1);
    Value list{.kind = Value::Kind::kList};
    while (!Take(close)) {
      if (!list.items.empty() && !Take(',')) {
        return std::nullopt;
      }
      if (Take(close)) {  // Python allows (1,).
        return list;
      }
      auto item = Parse(depth + 1);
      if (!item) {
        return std::nullopt;
      }
      list.items.push_back(*std::move(item));
    }
    return list;
  }

  std::optional<Value> ParseString(char quote) {
    for (size_t at = 1; at < rest_.size(); ++at) {
      if (rest_[at] == '\\') {
        ++at;
      } else if (rest_[at] == quote) {
        Value value{.kind = Value::Kind::kString,
                    .text = rest_.substr(1, at - 1)};
        rest_.remove_prefix(at + 1);
        return value;
      }
    }
    return std::nullopt;
  }

  std::optional<Value> ParseScalar() {
    const std::string_view token =
        rest_.substr(0, rest_.find_first_of(",])} \t\n\r"));
    rest_.remove_prefix(token.size());
    for (const Word& word : Words()) {
      if (token == word.text) {
        return word.value;
      }
    }
    Value value{.kind = Value::Kind::kInt};
    const char* end = token.data() + token.size();
    auto parsed = std::from_chars(token.data(), end, value.integer);
    if (parsed.ec == std::errc() && parsed.ptr == end) {
      value.number = static_cast<double>(value.integer);
      return value;
    }
    value = Value{.kind = Value::Kind::kFloat};
    parsed = std::from_chars(token.data(), end, value.number);
    if (parsed.ec == std::errc() && parsed.ptr == end && !token.empty()) {
      return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<Value> ParseValue(std::string_view text) {
  Parser parser(text);
  auto value = parser.Parse(0);
  return value && parser.AtEnd() ? value : std::nullopt;
}

std::optional<std::vector<int64_t>> AsIntList(const Value& value) {
  if (!value.is_list()) {
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  numbers.reserve(value.items.size());
  for (const Value& item : value.items) {
    if (!item.is_int()) {
      return std::nullopt;
    }
    numbers.push_back(item.integer);
  }
  return numbers;
}

}  // namespace stepcast
