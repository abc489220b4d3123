// One value of a JSON text, read on demand from an index of the text.
//
// The index is simdjson's stage 1: the offsets of every bracket, colon, comma
// and first byte of a scalar or string, with brackets matched. Values are
// positions in that index, so skipping one costs nothing.
#ifndef STEPCAST_BASE_JSON_JSON_VALUE_H_
#define STEPCAST_BASE_JSON_JSON_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepcast {

/// Text, the offsets of its structural characters, and which brackets belong
/// together. `at[count]` is the size of the text.
struct JsonIndex {
  const char* text = nullptr;
  const uint32_t* at = nullptr;
  /// For an opening bracket the position after its closing one, or count + 1
  /// if the text ends first. Undefined for other positions.
  const uint32_t* end = nullptr;
  uint32_t count = 0;

  char char_at(uint32_t position) const { return text[at[position]]; }
  /// Whether a value can begin at this position.
  bool is_value(uint32_t position) const {
    const char c = char_at(position);
    return c != ',' && c != ':' && c != ']' && c != '}';
  }
};

/// Cheap to copy; valid as long as the index.
class JsonValue {
 public:
  JsonValue() = default;
  JsonValue(const JsonIndex* index, uint32_t position)
      : index_(index), position_(position) {}

  /// The first byte: '{', '[', '"', or the start of a scalar.
  char first() const { return index_->char_at(position_); }
  bool is_object() const { return first() == '{'; }
  bool is_array() const { return first() == '['; }
  bool is_string() const { return first() == '"'; }
  bool is_null() const { return raw_scalar() == "null"; }

  /// The value as written in the text, without surrounding space.
  std::string_view raw() const;
  /// A string's bytes between the quotes with escapes left as they are.
  std::optional<std::string_view> raw_string() const {
    if (!is_string()) {
      return std::nullopt;
    }
    return StringAt(position_);
  }
  /// raw_string of a string, raw of anything else.
  std::string_view raw_text() const {
    return is_string() ? StringAt(position_) : raw();
  }
  /// A whole number that fits; also one written as a string of digits.
  std::optional<int64_t> AsInt() const;
  /// A finite number; also one written as a string.
  std::optional<double> AsDouble() const;

  /// Calls visit(std::string_view raw_key, JsonValue value) for every member.
  /// False if this is not an object or its syntax is broken.
  template <typename Visit>
  bool ForEachMember(Visit&& visit) const;
  /// Calls visit(JsonValue value) for every element. False as above.
  template <typename Visit>
  bool ForEachElement(Visit&& visit) const;

  /// The position after this value, or count + 1 if the text ends first.
  uint32_t EndPosition() const {
    const char c = first();
    return c == '{' || c == '[' ? index_->end[position_] : position_ + 1;
  }

 private:
  std::string_view raw_scalar() const;
  std::string_view StringAt(uint32_t position) const;

  const JsonIndex* index_ = nullptr;
  uint32_t position_ = 0;
};

/// Undoes the escapes of a JSON string. Returns `raw` itself when there are
/// none, otherwise a view into `buffer`. Broken escapes become U+FFFD.
std::string_view JsonUnescape(std::string_view raw, std::string& buffer);

/// A whole number of nanoseconds from a decimal number of microseconds, exact
/// to the nanosecond and rounded beyond. Nothing if it is not a finite number
/// or does not fit.
std::optional<int64_t> ParseMicroseconds(std::string_view text);

inline std::string_view JsonValue::StringAt(uint32_t position) const {
  const char* begin = index_->text + index_->at[position] + 1;
  // The closing quote is the last one before whatever comes next.
  const char* end = index_->text + index_->at[position + 1];
  while (end > begin && end[-1] != '"') {
    --end;
  }
  return {begin, end > begin ? static_cast<size_t>(end - 1 - begin) : 0};
}

template <typename Visit>
bool JsonValue::ForEachMember(Visit&& visit) const {
  if (!is_object()) {
    return false;
  }
  const JsonIndex& index = *index_;
  uint32_t at = position_ + 1;
  if (at < index.count && index.char_at(at) == '}') {
    return true;
  }
  while (at + 2 < index.count) {
    if (index.char_at(at) != '"' || index.char_at(at + 1) != ':' ||
        !index.is_value(at + 2)) {
      return false;
    }
    const JsonValue value(index_, at + 2);
    const uint32_t end = value.EndPosition();
    if (end >= index.count) {
      return false;
    }
    visit(StringAt(at), value);
    const char next = index.char_at(end);
    if (next != ',') {
      return next == '}';
    }
    at = end + 1;
  }
  return false;
}

template <typename Visit>
bool JsonValue::ForEachElement(Visit&& visit) const {
  if (!is_array()) {
    return false;
  }
  const JsonIndex& index = *index_;
  uint32_t at = position_ + 1;
  if (at < index.count && index.char_at(at) == ']') {
    return true;
  }
  while (at < index.count && index.is_value(at)) {
    const JsonValue value(index_, at);
    const uint32_t end = value.EndPosition();
    if (end >= index.count) {
      return false;
    }
    visit(value);
    const char next = index.char_at(end);
    if (next != ',') {
      return next == ']';
    }
    at = end + 1;
  }
  return false;
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_JSON_JSON_VALUE_H_
