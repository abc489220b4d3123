// Reading JSON documents of any size: a stream of their members and of the
// records of large arrays.
#ifndef STEPCAST_BASE_JSON_JSON_READ_H_
#define STEPCAST_BASE_JSON_JSON_READ_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/json/json_value.h"
#include "base/json/json_window.h"
#include "base/result.h"

namespace stepcast {

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
    int64_t trailing_bytes = 0;      // From the first one after the document
                                     // that is not a space.
  };

  JsonRecordReader(ByteSource& source,
                   std::span<const std::string_view> record_arrays);
  JsonRecordReader(const JsonRecordReader&) = delete;
  JsonRecordReader& operator=(const JsonRecordReader&) = delete;

  /// The next item, or nothing at the end. Fails on I/O errors and where the
  /// text stops being JSON. A document cut off in the middle ends there, and
  /// counts().truncated says so.
  Result<std::optional<Item>> Next();

  Counts counts() const;
  /// Bytes of text taken so far; all of them at the end.
  uint64_t offset() const;

 private:
  enum class State { kStart, kMembers, kRecords, kDone };

  Result<std::optional<Item>> NextMember();
  Result<std::optional<Item>> NextRecord();
  /// The structural character at position_, reading on as needed; 0 at the end.
  /// A zero byte counts as the end too: files that were never finished have
  /// them.
  Result<char> Peek();
  /// Makes the value at position_ complete in the window and sets value_end_;
  /// false if the text ends first. Fails if no value is there.
  Result<bool> CompleteValue();
  Result<std::optional<Item>> EndTruncated();
  /// Takes the last bracket of the document.
  Result<std::optional<Item>> EndDocument();
  tl::unexpected<Error> Broken(std::string_view expected) const;

  JsonWindow window_;
  std::vector<std::string> record_arrays_;
  uint32_t position_ = 0;   // Of the next structural character.
  uint32_t value_end_ = 0;  // After the value CompleteValue found.
  bool needs_comma_ = false;
  State state_ = State::kStart;
  bool top_is_array_ = false;
  std::string record_key_;
  std::string member_key_;
  bool truncated_ = false;
  uint64_t trailing_bytes_ = 0;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_JSON_JSON_READ_H_
