#include "base/value_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace stepcast {
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
