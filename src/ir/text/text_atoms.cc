#include "ir/text/text_atoms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/text/utf8.h"
#include "ir/names.h"
#include "ir/outline.h"

namespace stepcast::ir {
namespace {

// The length of the quoted text that `text` starts with, both quotes included;
// 0 if it does not end.
size_t QuotedSize(std::string_view text) {
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      return at + 1;
    }
    at += text[at] == '\\' ? 1 : 0;
  }
  return 0;
}

}  // namespace

std::string Shown(TextWord word) {
  const char quote = word.quoted ? '"' : '\'';
  return fmt::format("{}{}{}", quote, ShownText(word.text), quote);
}

TextLine::TextLine(std::string_view line) : rest_(line) {
  if (rest_.ends_with('\r')) {
    rest_.remove_suffix(1);
  }
  SkipBlanks();
  blanks_ = static_cast<size_t>(rest_.data() - line.data());
}

Result<size_t> TextLine::TakeDepth() {
  if (!rest_.starts_with('^')) {
    if (blanks_ % 2 != 0) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{} blanks in front; expected two a level", blanks_));
    }
    return blanks_ / 2;
  }
  ASSIGN_OR_RETURN(const std::optional<TextWord> word, Next());
  const std::optional<int64_t> depth = ParseInt(word->text.substr(1));
  if (!depth || *depth < 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: expected a depth after '^'", Shown(*word)));
  }
  return static_cast<size_t>(*depth);
}

Result<std::optional<TextWord>> TextLine::Next() {
  if (rest_.empty()) {
    return std::nullopt;
  }
  TextWord word;
  if (rest_.front() == '"') {
    const size_t size = QuotedSize(rest_);
    if (size == 0) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{} has no closing quote", Shown({.text = rest_})));
    }
    word = {.text = rest_.substr(1, size - 2), .quoted = true};
    rest_.remove_prefix(size);
    if (!rest_.empty() && rest_.front() != ' ') {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("no blank after {}", Shown(word)));
    }
  } else {
    const size_t size = std::min(rest_.find(' '), rest_.size());
    word = {.text = rest_.substr(0, size)};
    rest_.remove_prefix(size);
  }
  SkipBlanks();
  return word;
}

void TextLine::SkipBlanks() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
}

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

struct Escape {
  char letter = 0;  // After the backslash.
  char byte = 0;
};
constexpr std::array kEscapes = {
    Escape{'"', '"'},  Escape{'\\', '\\'}, Escape{'n', '\n'}, Escape{'t', '\t'},
    Escape{'r', '\r'}, Escape{'b', '\b'},  Escape{'f', '\f'}, Escape{'/', '/'},
};

// Written as it is; everything else that is ASCII needs a backslash.
bool IsPlain(unsigned char byte) {
  return byte >= 0x20 && byte != 0x7F && byte != '"' && byte != '\\';
}

void AppendEscaped(std::string& out, char byte) {
  for (const Escape& escape : kEscapes) {
    if (escape.byte == byte) {
      out += '\\';
      out += escape.letter;
      return;
    }
  }
  const auto value = static_cast<unsigned char>(byte);
  out += value < 0x80 ? "\\u00" : "\\x";
  out += kHexDigits[value >> 4];
  out += kHexDigits[value & 0xF];
}

// The number that the first `digits` characters write in hexadecimal.
std::optional<uint32_t> HexNumber(std::string_view text, size_t digits) {
  uint32_t value = 0;
  const char* const end = text.data() + digits;
  if (text.size() < digits) {
    return std::nullopt;
  }
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return value;
}

void AppendUtf8(std::string& out, uint32_t code) {
  const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | (code >> 6));
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | (code >> 12));
    add(0x80 | ((code >> 6) & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | (code >> 18));
    add(0x80 | ((code >> 12) & 0x3F));
    add(0x80 | ((code >> 6) & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

// Takes XXXX, or XXXX\uXXXX for a surrogate pair, off the front of `text`.
bool TakeUnicode(std::string& out, std::string_view& text) {
  const std::optional<uint32_t> high = HexNumber(text, 4);
  if (!high) {
    return false;
  }
  text.remove_prefix(4);
  if (*high < 0xD800 || *high > 0xDFFF) {
    AppendUtf8(out, *high);
    return true;
  }
  if (*high > 0xDBFF || !text.starts_with("\\u")) {
    return false;
  }
  text.remove_prefix(2);
  const std::optional<uint32_t> low = HexNumber(text, 4);
  if (!low || *low < 0xDC00 || *low > 0xDFFF) {
    return false;
  }
  text.remove_prefix(4);
  AppendUtf8(out, 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00));
  return true;
}

// Takes what follows a backslash off the front of `text`.
bool TakeEscape(std::string& out, std::string_view& text) {
  if (text.empty()) {
    return false;
  }
  const char letter = text.front();
  text.remove_prefix(1);
  if (letter == 'u') {
    return TakeUnicode(out, text);
  }
  if (letter == 'x') {
    const std::optional<uint32_t> byte = HexNumber(text, 2);
    if (byte) {
      out += static_cast<char>(*byte);
      text.remove_prefix(2);
    }
    return byte.has_value();
  }
  for (const Escape& escape : kEscapes) {
    if (escape.letter == letter) {
      out += escape.byte;
      return true;
    }
  }
  return false;
}

constexpr int64_t kNanosecondsPerMicrosecond = 1000;

void AppendMicroseconds(std::string& out, Duration time) {
  int64_t ns = time.count();
  if (ns < 0) {
    out += '-';
    ns = -ns;
  }
  AppendInt(out, ns / kNanosecondsPerMicrosecond);
  const int64_t rest = ns % kNanosecondsPerMicrosecond;
  if (rest > 0) {
    const std::string digits = fmt::format(".{:03}", rest);
    out += std::string_view(digits).substr(0, digits.find_last_not_of('0') + 1);
  }
}

// Digits, then perhaps a point and one to three more.
std::optional<Duration> ParseMicroseconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole_text = text.substr(0, point);
  std::string decimals;
  if (point < text.size()) {
    decimals = text.substr(point + 1);
    if (decimals.empty() || decimals.size() > 3) {
      return std::nullopt;
    }
  }
  decimals.resize(3, '0');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::optional<int64_t> whole = ParseInt(whole_text);
  constexpr int64_t kMost =
      std::numeric_limits<int64_t>::max() / kNanosecondsPerMicrosecond;
  if (!whole || !std::ranges::all_of(whole_text, is_digit) ||
      !std::ranges::all_of(decimals, is_digit) || *whole >= kMost) {
    return std::nullopt;
  }
  const int64_t ns =
      *whole * kNanosecondsPerMicrosecond + ParseInt(decimals).value_or(0);
  return Duration{negative ? -ns : ns};
}

// "16,13", or nothing at all for a scalar.
bool ParseDims(std::vector<int64_t>& dims, std::string_view text) {
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::optional<int64_t> dim = ParseInt(text.substr(0, comma));
    if (!dim || comma + 1 == text.size()) {
      return false;
    }
    dims.push_back(*dim);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

}  // namespace

std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return number;
}

void AppendInt(std::string& out, int64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

void AppendQuoted(std::string& out, std::string_view bytes) {
  out += '"';
  for (size_t at = 0; at < bytes.size();) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    const size_t length =
        byte < 0x80 ? (IsPlain(byte) ? 1 : 0) : Utf8Length(bytes.substr(at));
    if (length == 0) {
      AppendEscaped(out, bytes[at]);
    } else {
      out += bytes.substr(at, length);
    }
    at += std::max<size_t>(1, length);
  }
  out += '"';
}

std::optional<std::string> Unquote(std::string_view inner) {
  std::string out;
  while (!inner.empty()) {
    const size_t plain = std::min(inner.find('\\'), inner.size());
    out += inner.substr(0, plain);
    inner.remove_prefix(plain);
    if (inner.empty()) {
      break;
    }
    inner.remove_prefix(1);
    if (!TakeEscape(out, inner)) {
      return std::nullopt;
    }
  }
  return out;
}

void AppendTime(std::string& out, const Measured& measured) {
  out += '@';
  if (measured.start) {
    AppendMicroseconds(out, *measured.start);
  }
  out += '+';
  AppendMicroseconds(out, measured.duration);
}

std::optional<Measured> ParseTime(std::string_view word) {
  const size_t plus = word.find('+');
  if (!word.starts_with('@') || plus == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view start_text = word.substr(1, plus - 1);
  const std::optional<Duration> start = ParseMicroseconds(start_text);
  const std::optional<Duration> duration =
      ParseMicroseconds(word.substr(plus + 1));
  if ((!start && !start_text.empty()) || !duration) {
    return std::nullopt;
  }
  return Measured{.start = start, .duration = *duration};
}

void AppendStream(std::string& out, const Stream& stream,
                  int64_t usual_device) {
  if (stream.device != usual_device) {
    AppendInt(out, stream.device);
    out += '/';
  }
  AppendInt(out, stream.number);
}

std::optional<StreamName> ParseStream(std::string_view word) {
  StreamName name;
  const size_t slash = word.find('/');
  if (slash != std::string_view::npos) {
    name.device = ParseInt(word.substr(0, slash));
    if (!name.device) {
      return std::nullopt;
    }
    word.remove_prefix(slash + 1);
  }
  const std::optional<int64_t> number = ParseInt(word);
  if (!number) {
    return std::nullopt;
  }
  name.number = *number;
  return name;
}

void AppendTensor(std::string& out, const Tensor& tensor) {
  out += Name(tensor.dtype);
  out += '[';
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (i > 0) {
      out += ',';
    }
    AppendInt(out, tensor.dims[i]);
  }
  out += ']';
  if (tensor.device != Device::kUnknown) {
    out += '@';
    out += Name(tensor.device);
  }
  if (tensor.storage != Tensor{}.storage) {
    out += '#';
    AppendInt(out, tensor.storage);
  }
}

std::optional<Tensor> ParseTensor(std::string_view word) {
  const size_t open = word.find('[');
  const size_t close = word.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos ||
      close < open) {
    return std::nullopt;
  }
  Tensor tensor;
  const std::optional<DType> dtype = DTypeFromName(word.substr(0, open));
  if (!dtype ||
      !ParseDims(tensor.dims, word.substr(open + 1, close - open - 1))) {
    return std::nullopt;
  }
  tensor.dtype = *dtype;
  std::string_view rest = word.substr(close + 1);
  if (rest.starts_with('@')) {
    const size_t size = std::min(rest.find('#'), rest.size());
    const auto device = FromName<Device>(rest.substr(1, size - 1));
    if (!device) {
      return std::nullopt;
    }
    tensor.device = *device;
    rest.remove_prefix(size);
  }
  if (!rest.empty()) {
    const std::optional<int64_t> storage = ParseInt(rest.substr(1));
    if (!rest.starts_with('#') || !storage) {
      return std::nullopt;
    }
    tensor.storage = *storage;
  }
  return tensor;
}

}  // namespace stepcast::ir
