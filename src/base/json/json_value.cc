#include "base/json/json_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

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

// Any number of so many digits fits in 64 bits.
constexpr size_t kSafeDigits = 18;

// The number that the digits at the start of `text` write, and how many there
// are. There must be no more than kSafeDigits.
size_t TakeDigits(std::string_view text, int64_t& number) {
  size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') {
    number = number * 10 + (text[count] - '0');
    ++count;
  }
  return count;
}

// Thousandths from the digits after a decimal point, rounded.
std::optional<int64_t> ParseFraction(std::string_view digits) {
  if (digits.empty()) {
    return std::nullopt;
  }
  int64_t thousandths = 0;
  int64_t unit = 1000;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') {
      return std::nullopt;
    }
    if (unit == 1) {  // The first digit that is left out.
      thousandths += digit >= '5' ? 1 : 0;
    }
    unit /= 10;
    thousandths += (digit - '0') * unit;
  }
  return thousandths;
}

// Numbers with exponents, and text that is not a number.
std::optional<int64_t> ParseOtherMicroseconds(std::string_view text,
                                              int64_t limit) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || last != end || text.ends_with('.') ||
      !std::isfinite(number) ||
      std::abs(number) >= static_cast<double>(limit)) {
    return std::nullopt;
  }
  return std::llround(number * 1000);
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

std::string_view JsonValue::raw_scalar() const {
  const uint32_t begin = index_->at[position_];
  uint32_t end = index_->at[position_ + 1];
  while (end > begin + 1 && IsSpace(index_->text[end - 1])) {
    --end;
  }
  return {index_->text + begin, end - begin};
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

std::optional<int64_t> JsonValue::AsInt() const {
  const std::string_view text =
      is_string() ? StringAt(position_) : raw_scalar();
  int64_t number = 0;
  // Almost all are short and plain; the rest goes to the library.
  if (!text.empty() && text.size() <= kSafeDigits &&
      TakeDigits(text, number) == text.size()) {
    return number;
  }
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
  // 2^53 us is 285 years: below that the product with 1000 cannot overflow.
  constexpr int64_t kMostWhole = int64_t{1} << 53;
  const bool negative = text.starts_with('-');
  std::string_view rest = text.substr(negative ? 1 : 0);
  int64_t whole = 0;
  const size_t digits = TakeDigits(rest.substr(0, kSafeDigits), whole);
  rest.remove_prefix(digits);
  if (digits == 0 || whole >= kMostWhole ||
      !(rest.empty() || rest.starts_with('.'))) {
    return ParseOtherMicroseconds(text, kMostWhole);
  }
  int64_t nanoseconds = whole * 1000;
  if (!rest.empty()) {
    const auto fraction = ParseFraction(rest.substr(1));
    if (!fraction) {
      return ParseOtherMicroseconds(text, kMostWhole);
    }
    nanoseconds += *fraction;
  }
  return negative ? -nanoseconds : nanoseconds;
}

}  // namespace stepcast
