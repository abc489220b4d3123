// A stretch of a JSON text, indexed, that moves along its source: what a
// reader of documents of any size holds in memory.
#ifndef STEPCAST_BASE_JSON_JSON_WINDOW_H_
#define STEPCAST_BASE_JSON_JSON_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/json/json_value.h"
#include "base/result.h"

namespace stepcast {

class JsonWindow {
 public:
  /// Bytes of text a window begins with, enough for small documents.
  static constexpr size_t kFirstSize = size_t{1} << 14;
  /// What it soon grows to, and stays at unless one value needs more. Text and
  /// index stay in the cache of one core.
  static constexpr size_t kSize = size_t{1} << 18;
  /// No value may be longer: its index takes up to eight times as much.
  static constexpr size_t kLongestValue = size_t{1} << 25;

  /// Bytes JSON forbids but real traces hold, and what they were made into.
  struct Repairs {
    int64_t control_characters = 0;  // Inside strings; spaces.
    int64_t invalid_utf8 = 0;        // Question marks.
  };

  explicit JsonWindow(ByteSource& source);
  JsonWindow(const JsonWindow&) = delete;
  JsonWindow& operator=(const JsonWindow&) = delete;
  ~JsonWindow();

  /// The index of the text below. Its last scalar or string may go on after
  /// the window, unless ended().
  const JsonIndex& index() const { return index_; }
  std::string_view text() const { return {buffer_.data(), visible_}; }
  /// Of the window in the whole text.
  uint64_t offset() const { return offset_; }
  /// Whether nothing follows the window.
  bool ended() const { return source_ended_; }
  const Repairs& repairs() const { return repairs_; }

  /// Drops the text before the structural character at `position` (all of it
  /// if there is none) and takes in what follows. The character is then at
  /// position 0. Fails on I/O errors, and when the window would have to grow
  /// beyond all reason because nothing could be dropped.
  Status Advance(uint32_t position);

  /// Reads the source to its end and returns how many bytes followed the
  /// window.
  Result<uint64_t> Drain();

 private:
  class Indexer;

  Status Fill();
  Status Index();
  size_t VisibleSize() const;
  void Repair();
  void MatchBrackets();
  size_t room() const;

  ByteSource& source_;
  std::unique_ptr<Indexer> indexer_;
  std::vector<char> buffer_;
  size_t size_ = 0;      // Bytes of text in the buffer.
  size_t visible_ = 0;   // Of them, the indexed ones.
  uint64_t offset_ = 0;  // Of the buffer in the whole text.
  bool source_ended_ = false;
  JsonIndex index_;
  std::unique_ptr<uint32_t[]> ends_;  // NOLINT(modernize-avoid-c-arrays)
  size_t ends_size_ = 0;
  Repairs repairs_;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_JSON_JSON_WINDOW_H_
