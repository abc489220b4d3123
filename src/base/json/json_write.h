// JSON output with fixed key order and number format.
#ifndef STEPCAST_BASE_JSON_JSON_WRITE_H_
#define STEPCAST_BASE_JSON_JSON_WRITE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepcast {

/// `text` with quotes around it and everything escaped that JSON wants escaped;
/// invalid UTF-8 becomes U+FFFD.
std::string JsonQuoted(std::string_view text);

/// Writes one JSON document, indented by two spaces. Keys appear in the order
/// of the calls. Doubles are the shortest text that reads back the same;
/// infinities and NaN become null.
class JsonWriter {
 public:
  enum class Style { kIndented, kCompact };
  explicit JsonWriter(Style style = Style::kIndented) : style_(style) {}

  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view key);

  JsonWriter& String(std::string_view text);
  JsonWriter& Int(int64_t number);
  JsonWriter& Double(double number);
  /// A double with at most `decimals` digits after the point, no trailing
  /// zeros.
  JsonWriter& Fixed(double number, int decimals);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();

  /// What was written since the last call; nothing has to be finished. For
  /// output that is too large to keep.
  std::string TakePart() { return std::exchange(out_, {}); }
  size_t part_size() const { return out_.size(); }

  /// The finished text, or what is left of it; ends with a newline when
  /// indented.
  std::string Take();

 private:
  struct Level {
    bool is_array = false;
    bool has_items = false;
  };

  JsonWriter& Scalar(std::string_view text);
  void BeforeValue();
  void BreakLine();
  JsonWriter& Open(char bracket, bool is_array);
  JsonWriter& Close(char bracket);

  Style style_;
  std::string out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_JSON_JSON_WRITE_H_
