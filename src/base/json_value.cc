#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/json_read.h"

namespace stepcast {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::optional<uint32_t> ParseHex4(std::string_view digits) {
  if (digits.size() < 4) {
    return std::nullopt;
  }
  uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + 4, code, 16);
  if (error != std::errc() || end != digits.data() + 4) {
    return std::nullopt;
  }
  return code;
}

void AppendUtf8(std::string& out, uint32_t code) {
  const auto byte = [&](uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

constexpr uint32_t kReplacement = 0xFFFD;

// Reads what follows "\u" and returns how many bytes of `rest` it took.
size_t AppendUnicodeEscape(std::string& out, std::string_view rest) {
  const auto high = ParseHex4(rest);
  if (!high) {
    AppendUtf8(out, kReplacement);
    return 0;
  }
  if (*high < 0xD800 || *high > 0xDFFF) {
    AppendUtf8(out, *high);
    return 4;
  }
  if (*high <= 0xDBFF && rest.substr(4).starts_with("\\u")) {
    const auto low = ParseHex4(rest.substr(6));
    if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
      AppendUtf8(out, 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00));
      return 10;
    }
  }
  AppendUtf8(out, kReplacement);
  return 4;
}

}  // namespace

std::string_view JsonValue::StringAt(uint32_t position) const {
  const uint32_t begin = index_->at[position] + 1;
  uint32_t end = index_->at[position + 1];
  while (end > begin && index_->text[end - 1] != '"') {
    --end;
  }
  return {index_->text + begin, end > begin ? end - 1 - begin : 0};
}

std::string_view JsonValue::raw_scalar() const {
  const uint32_t begin = index_->at[position_];
  uint32_t end = index_->at[position_ + 1];
  while (end > begin + 1 && IsSpace(index_->text[end - 1])) {
    --end;
  }
  return {index_->text + begin, end - begin};
}

uint32_t JsonValue::EndPosition() const {
  const char c = first();
  if (c != '{' && c != '[') {
    return position_ + 1;
  }
  uint32_t depth = 0;
  for (uint32_t at = position_; at < index_->count; ++at) {
    const char bracket = char_at(at);
    if (bracket == '{' || bracket == '[') {
      ++depth;
    } else if (bracket == '}' || bracket == ']') {
      if (--depth == 0) {
        return at + 1;
      }
    }
  }
  return index_->count + 1;
}

std::string_view JsonValue::raw() const {
  const char c = first();
  if (c != '{' && c != '[') {
    return raw_scalar();
  }
  const uint32_t begin = index_->at[position_];
  const uint32_t last = std::min(EndPosition(), index_->count) - 1;
  return {index_->text + begin, index_->at[last] + 1 - begin};
}

std::optional<std::string_view> JsonValue::raw_string() const {
  if (!is_string()) {
    return std::nullopt;
  }
  return StringAt(position_);
}

std::optional<int64_t> JsonValue::AsInt() const {
  const std::string_view text =
      is_string() ? StringAt(position_) : raw_scalar();
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return number;
}

std::optional<double> JsonValue::AsDouble() const {
  const std::string_view text =
      is_string() ? StringAt(position_) : raw_scalar();
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::string_view JsonUnescape(std::string_view raw, std::string& buffer) {
  size_t at = raw.find('\\');
  if (at == std::string_view::npos) {
    return raw;
  }
  buffer.assign(raw.substr(0, at));
  while (at < raw.size()) {
    if (raw[at] != '\\' || at + 1 == raw.size()) {
      buffer += raw[at++];
      continue;
    }
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = raw[at + 1];
    at += 2;
    if (letter == 'u') {
      at += AppendUnicodeEscape(buffer, raw.substr(at));
    } else if (const size_t i = kLetters.find(letter);
               i != std::string_view::npos) {
      buffer += kMeanings[i];
    } else {
      AppendUtf8(buffer, kReplacement);
    }
  }
  return buffer;
}

std::optional<int64_t> ParseMicroseconds(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  int64_t whole = 0;
  const auto [stop, error] = std::from_chars(at, end, whole);
  // 2^53 us is 285 years: below that the product with 1000 cannot overflow.
  constexpr int64_t kMostWhole = int64_t{1} << 53;
  const bool fits =
      error == std::errc() && whole < kMostWhole && whole > -kMostWhole;
  if (fits && stop == end) {
    return whole * 1000;
  }
  if (fits && *stop == '.' && end - stop <= 4 && end - stop >= 2) {
    int64_t fraction = 0;
    int64_t scale = 1000;
    for (at = stop + 1; at != end; ++at) {
      if (*at < '0' || *at > '9') {
        return std::nullopt;
      }
      scale /= 10;
      fraction += (*at - '0') * scale;
    }
    return whole * 1000 + (text.front() == '-' ? -fraction : fraction);
  }
  double number = 0;
  const auto [last, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || last != end || !std::isfinite(number) ||
      std::abs(number) >= static_cast<double>(kMostWhole)) {
    return std::nullopt;
  }
  return std::llround(number * 1000);
}

}  // namespace stepcast
