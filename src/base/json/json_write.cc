#include "base/json/json_write.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text/utf8.h"

namespace stepcast {
namespace {

std::string FixedText(double number, int decimals) {
  std::string text = fmt::format("{:.{}f}", number, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
      text.pop_back();
    }
  }
  return text == "-0" ? "0" : text;
}

void AppendEscaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
      return;
  }
}

}  // namespace

std::string JsonQuoted(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7F) {
      AppendEscaped(out, text[at]);
    } else {
      out += text.substr(at, length);
    }
    at += std::max<size_t>(1, length);
  }
  return out + "\"";
}

JsonWriter& JsonWriter::BeginObject() {
  return Open('{', false);
}
JsonWriter& JsonWriter::EndObject() {
  return Close('}');
}
JsonWriter& JsonWriter::BeginArray() {
  return Open('[', true);
}
JsonWriter& JsonWriter::EndArray() {
  return Close(']');
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  CHECK(!levels_.empty() && !levels_.back().is_array && !after_key_);
  BeforeValue();
  out_ += JsonQuoted(key);
  out_ += style_ == Style::kIndented ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  return Scalar(JsonQuoted(text));
}
JsonWriter& JsonWriter::Int(int64_t number) {
  return Scalar(fmt::format("{}", number));
}
JsonWriter& JsonWriter::Double(double number) {
  return std::isfinite(number) ? Scalar(fmt::format("{}", number)) : Null();
}
JsonWriter& JsonWriter::Fixed(double number, int decimals) {
  return std::isfinite(number) ? Scalar(FixedText(number, decimals)) : Null();
}
JsonWriter& JsonWriter::Bool(bool value) {
  return Scalar(value ? "true" : "false");
}
JsonWriter& JsonWriter::Null() {
  return Scalar("null");
}

std::string JsonWriter::Take() {
  CHECK(levels_.empty());
  if (style_ == Style::kIndented) {
    out_ += '\n';
  }
  return std::exchange(out_, {});
}

JsonWriter& JsonWriter::Scalar(std::string_view text) {
  BeforeValue();
  out_ += text;
  after_key_ = false;
  return *this;
}

void JsonWriter::BeforeValue() {
  if (after_key_ || levels_.empty()) {
    return;
  }
  if (levels_.back().has_items) {
    out_ += ',';
  }
  levels_.back().has_items = true;
  BreakLine();
}

void JsonWriter::BreakLine() {
  if (style_ == Style::kIndented) {
    out_ += '\n';
    out_.append(levels_.size() * 2, ' ');
  }
}

JsonWriter& JsonWriter::Open(char bracket, bool is_array) {
  BeforeValue();
  after_key_ = false;
  out_ += bracket;
  levels_.push_back({.is_array = is_array});
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  CHECK(!levels_.empty() && !after_key_);
  const bool had_items = levels_.back().has_items;
  levels_.pop_back();
  if (had_items) {
    BreakLine();
  }
  out_ += bracket;
  return *this;
}

}  // namespace stepcast
