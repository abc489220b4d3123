// Reading JSON documents of any size: an index over a window of text, values
// read on demand, and a stream of the records of one large array.
//
// The index is simdjson's stage 1: the offsets of every bracket, colon, comma
// and first byte of a scalar or string. Values are positions in that index, so
// skipping costs nothing but a walk over it.
#ifndef STEPCAST_BASE_JSON_READ_H_
#define STEPCAST_BASE_JSON_READ_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace stepcast {

/// Text and the offsets of its structural characters. `at[count]` is the size
/// of the text.
struct JsonIndex {
  const char* text = nullptr;
  const uint32_t* at = nullptr;
  uint32_t count = 0;
};

/// One value of an indexed text. Cheap to copy; valid as long as the index.
class JsonValue {
 public:
  JsonValue() = default;
  JsonValue(const JsonIndex* index, uint32_t position)
      : index_(index), position_(position) {}

  /// The first byte: '{', '[', '"', or the start of a scalar.
  char first() const { return index_->text[index_->at[position_]]; }
  bool is_object() const { return first() == '{'; }
  bool is_array() const { return first() == '['; }
  bool is_string() const { return first() == '"'; }
  bool is_null() const { return raw_scalar() == "null"; }

  /// The value as it stands in the text, without surrounding space.
  std::string_view raw() const;
  /// A string's bytes between the quotes with escapes left as they are.
  std::optional<std::string_view> raw_string() const;
  /// A whole number that fits; also one written as a string of digits.
  std::optional<int64_t> AsInt() const;
  /// A finite number; also one written as a string.
  std::optional<double> AsDouble() const;

  /// Calls visit(std::string_view raw_key, JsonValue value) for every member.
  /// False if this is no object or its syntax is broken.
  template <typename Visit>
  bool ForEachMember(Visit&& visit) const;
  /// Calls visit(JsonValue value) for every element. False as above.
  template <typename Visit>
  bool ForEachElement(Visit&& visit) const;

 private:
  friend class JsonRecordReader;

  char char_at(uint32_t position) const {
    return index_->text[index_->at[position]];
  }
  std::string_view raw_scalar() const;
  std::string_view StringAt(uint32_t position) const;
  /// The position behind this value, or count + 1 if it never ends.
  uint32_t EndPosition() const;

  const JsonIndex* index_ = nullptr;
  uint32_t position_ = 0;
};

/// Undoes the escapes of a JSON string. Returns `raw` itself when there are
/// none, otherwise a view into `buffer`. Broken escapes become U+FFFD.
std::string_view JsonUnescape(std::string_view raw, std::string& buffer);

/// A whole number of nanoseconds from a decimal number of microseconds, without
/// loss for up to three digits behind the point. Nothing if it is no finite
/// number or does not fit.
std::optional<int64_t> ParseMicroseconds(std::string_view text);

/// Splits a document into its top-level members and, of the arrays named, their
/// elements one by one, holding only a window of the text in memory.
///
///   {"schema": 1, "nodes": [{...}, {...}], "time": "now"}
///
/// with record array "nodes" gives schema, each node, then time. A top-level
/// array is a record array without a name.
class JsonRecordReader {
 public:
  struct Item {
    std::string_view key;    // Of the member; escapes as they are.
    JsonValue value;         // Valid until the next call of Next.
    bool is_record = false;  // An element of the record array `key`.
  };
  /// What was repaired or lost on the way.
  struct Counts {
    int64_t control_characters = 0;  // Raw, inside strings; read as spaces.
    int64_t invalid_utf8 = 0;        // Bytes, read as '?'.
    bool truncated = false;          // The text ended inside the document.
    int64_t trailing_bytes = 0;      // Behind the end of the document.
  };

  JsonRecordReader(ByteSource& source,
                   std::span<const std::string_view> record_arrays);
  JsonRecordReader(const JsonRecordReader&) = delete;
  JsonRecordReader& operator=(const JsonRecordReader&) = delete;
  ~JsonRecordReader();

  /// The next item, or nothing at the end. Fails on I/O errors and where the
  /// text stops being JSON. A document cut off in the middle ends there, and
  /// counts().truncated says so.
  Result<std::optional<Item>> Next();

  const Counts& counts() const { return counts_; }
  /// Bytes of text taken so far.
  uint64_t offset() const {
    return window_offset_ +
           (position_ < index_.count ? index_.at[position_] : size_);
  }

 private:
  class Indexer;
  enum class State { kStart, kMembers, kRecords, kDone };

  Result<std::optional<Item>> NextMember();
  Result<std::optional<Item>> NextRecord();
  /// Makes the value at position_ complete in the window; false if the text
  /// ends first.
  Result<bool> CompleteValue();
  /// The structural character at position_, reading on as needed; 0 at the end.
  Result<char> Peek();
  Status Refill();
  Status IndexWindow();
  void Sanitize(size_t visible);
  tl::unexpected<Error> Broken(std::string_view expected) const;

  ByteSource& source_;
  std::vector<std::string> record_arrays_;
  std::unique_ptr<Indexer> indexer_;
  std::vector<char> buffer_;
  size_t size_ = 0;             // Bytes of text in the buffer.
  uint64_t window_offset_ = 0;  // Of the buffer in the whole text.
  JsonIndex index_;
  uint32_t position_ = 0;   // Of the next structural character.
  uint32_t value_end_ = 0;  // Behind the value CompleteValue found.
  bool source_ended_ = false;
  bool needs_comma_ = false;
  State state_ = State::kStart;
  bool top_is_array_ = false;
  std::string record_key_;
  std::string member_key_;
  Counts counts_;
};

template <typename Visit>
bool JsonValue::ForEachMember(Visit&& visit) const {
  if (!is_object()) {
    return false;
  }
  uint32_t at = position_ + 1;
  if (at < index_->count && char_at(at) == '}') {
    return true;
  }
  while (at + 2 < index_->count) {
    if (char_at(at) != '"' || char_at(at + 1) != ':') {
      return false;
    }
    const JsonValue value(index_, at + 2);
    const uint32_t end = value.EndPosition();
    if (end >= index_->count) {
      return false;
    }
    visit(StringAt(at), value);
    if (char_at(end) == '}') {
      return true;
    }
    if (char_at(end) != ',') {
      return false;
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
  uint32_t at = position_ + 1;
  if (at < index_->count && char_at(at) == ']') {
    return true;
  }
  while (at < index_->count) {
    const JsonValue value(index_, at);
    const uint32_t end = value.EndPosition();
    if (end >= index_->count) {
      return false;
    }
    visit(value);
    if (char_at(end) == ']') {
      return true;
    }
    if (char_at(end) != ',') {
      return false;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_JSON_READ_H_
