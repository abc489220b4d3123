#include "base/json_read.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/check.h"
#include "base/text_table.h"
#include "base/utf8.h"

namespace stepcast {
namespace {

// A window holds many records yet stays in the cache of one core.
constexpr size_t kFirstWindow = size_t{1} << 20;
// A single value may not be larger than this.
constexpr size_t kLargestWindow = size_t{1} << 30;
// Two quotes and a backslash's worth of room to close a cut string.
constexpr size_t kClosing = 2;

}  // namespace

// simdjson's stage 1 behind a size that only grows.
class JsonRecordReader::Indexer {
 public:
  simdjson::error_code Run(const char* text, size_t size) {
    if (parser_ == nullptr || size > parser_->capacity()) {
      const size_t capacity = std::max(size, kFirstWindow + kClosing);
      const auto error =
          simdjson::get_active_implementation()
              ->create_dom_parser_implementation(
                  capacity, simdjson::DEFAULT_MAX_DEPTH, parser_);
      if (error != simdjson::SUCCESS) {
        return error;
      }
    }
    return parser_->stage1(reinterpret_cast<const uint8_t*>(text), size,
                           simdjson::stage1_mode::regular);
  }
  const uint32_t* offsets() const { return parser_->structural_indexes.get(); }
  uint32_t count() const { return parser_->n_structural_indexes; }

 private:
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
};

JsonRecordReader::JsonRecordReader(
    ByteSource& source, std::span<const std::string_view> record_arrays)
    : source_(source),
      record_arrays_(record_arrays.begin(), record_arrays.end()),
      indexer_(std::make_unique<Indexer>()),
      buffer_(kFirstWindow + kClosing + simdjson::SIMDJSON_PADDING) {}

JsonRecordReader::~JsonRecordReader() = default;

Result<std::optional<JsonRecordReader::Item>> JsonRecordReader::Next() {
  if (state_ == State::kStart) {
    ASSIGN_OR_RETURN(const char first, Peek());
    if (first != '{' && first != '[') {
      return Broken("a JSON object or array");
    }
    ++position_;
    needs_comma_ = false;
    top_is_array_ = first == '[';
    state_ = top_is_array_ ? State::kRecords : State::kMembers;
  }
  while (state_ != State::kDone) {
    auto item = state_ == State::kMembers ? NextMember() : NextRecord();
    if (!item || item->has_value()) {
      return item;
    }
  }
  return std::optional<Item>();
}

Result<std::optional<JsonRecordReader::Item>> JsonRecordReader::NextMember() {
  ASSIGN_OR_RETURN(char next, Peek());
  if (next == ',' && needs_comma_) {
    ++position_;
    needs_comma_ = false;
    ASSIGN_OR_RETURN(next, Peek());
  } else if (next == '}') {
    state_ = State::kDone;
    counts_.trailing_bytes = static_cast<int64_t>(index_.count - position_ - 1);
    return std::optional<Item>();
  }
  if (next == 0) {
    counts_.truncated = true;
    state_ = State::kDone;
    return std::optional<Item>();
  }
  if (next != '"' || needs_comma_) {
    return Broken(needs_comma_ ? "',' or '}'" : "a key in quotes");
  }
  ASSIGN_OR_RETURN(const bool has_key, CompleteValue());
  if (!has_key) {
    counts_.truncated = true;
    state_ = State::kDone;
    return std::optional<Item>();
  }
  member_key_ = *JsonValue(&index_, position_).raw_string();
  ++position_;
  ASSIGN_OR_RETURN(next, Peek());
  if (next != ':' && next != 0) {
    return Broken("':' behind a key");
  }
  position_ += next == ':' ? 1 : 0;
  ASSIGN_OR_RETURN(next, Peek());
  if (next == '[' &&
      std::ranges::find(record_arrays_, member_key_) != record_arrays_.end()) {
    ++position_;
    record_key_ = member_key_;
    needs_comma_ = false;
    state_ = State::kRecords;
    return std::optional<Item>();
  }
  ASSIGN_OR_RETURN(const bool complete, CompleteValue());
  if (!complete) {
    counts_.truncated = true;
    state_ = State::kDone;
    return std::optional<Item>();
  }
  const Item item{.key = member_key_, .value = JsonValue(&index_, position_)};
  position_ = value_end_;
  needs_comma_ = true;
  return std::optional<Item>(item);
}

Result<std::optional<JsonRecordReader::Item>> JsonRecordReader::NextRecord() {
  ASSIGN_OR_RETURN(char next, Peek());
  if (next == ',' && needs_comma_) {
    ++position_;
    needs_comma_ = false;
    ASSIGN_OR_RETURN(next, Peek());
  } else if (next == ']') {
    if (top_is_array_) {
      counts_.trailing_bytes =
          static_cast<int64_t>(index_.count - position_ - 1);
    }
    ++position_;
    needs_comma_ = true;
    state_ = top_is_array_ ? State::kDone : State::kMembers;
    return std::optional<Item>();
  }
  if (next != 0 && needs_comma_) {
    return Broken("',' or ']'");
  }
  ASSIGN_OR_RETURN(const bool complete, CompleteValue());
  if (next == 0 || !complete) {
    counts_.truncated = true;
    state_ = State::kDone;
    return std::optional<Item>();
  }
  const Item item{.key = record_key_,
                  .value = JsonValue(&index_, position_),
                  .is_record = true};
  position_ = value_end_;
  needs_comma_ = true;
  return std::optional<Item>(item);
}

Result<bool> JsonRecordReader::CompleteValue() {
  while (true) {
    if (position_ < index_.count) {
      const JsonValue value(&index_, position_);
      value_end_ = value.EndPosition();
      // A composite is complete at its bracket; a scalar or string only when
      // something follows it, as the window may have cut it.
      const bool composite = value.is_object() || value.is_array();
      if (value_end_ < index_.count ||
          (composite && value_end_ == index_.count)) {
        return true;
      }
    }
    if (source_ended_) {
      return false;
    }
    RETURN_IF_ERROR(Refill());
  }
}

Result<char> JsonRecordReader::Peek() {
  while (position_ >= index_.count) {
    if (source_ended_) {
      return '\0';
    }
    RETURN_IF_ERROR(Refill());
  }
  return index_.text[index_.at[position_]];
}

// Drops what is done with, reads on until the window is full, and indexes it.
// The window then begins at the structural character of position_.
Status JsonRecordReader::Refill() {
  const size_t done = position_ < index_.count ? index_.at[position_] : size_;
  std::memmove(buffer_.data(), buffer_.data() + done, size_ - done);
  window_offset_ += done;
  size_ -= done;
  const size_t room = buffer_.size() - kClosing - simdjson::SIMDJSON_PADDING;
  if (size_ > room / 2) {
    if (room >= kLargestWindow) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("one JSON value at byte {} is longer than {} MiB",
                              window_offset_, kLargestWindow >> 20));
    }
    buffer_.resize(room * 2 + kClosing + simdjson::SIMDJSON_PADDING);
  }
  const size_t limit = buffer_.size() - kClosing - simdjson::SIMDJSON_PADDING;
  while (size_ < limit && !source_ended_) {
    ASSIGN_OR_RETURN(const size_t got, source_.Read(std::span(buffer_).subspan(
                                           size_, limit - size_)));
    size_ += got;
    source_ended_ = got == 0;
  }
  position_ = 0;
  return IndexWindow();
}

Status JsonRecordReader::IndexWindow() {
  char* text = buffer_.data();
  // A multi-byte character cut by the window's end would look invalid.
  size_t visible = size_;
  if (!source_ended_) {
    while (visible > 0 && size_ - visible < 4 &&
           static_cast<unsigned char>(text[visible - 1]) >= 0x80) {
      --visible;
    }
  }
  size_t indexed = visible;
  std::array<char, kClosing> saved{};
  std::copy_n(text + visible, kClosing, saved.begin());
  simdjson::error_code error = indexer_->Run(text, indexed);
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (error == simdjson::UNCLOSED_STRING) {
      // The window ends inside a string: close it for the index's sake. The
      // string is the last entry, so no value that uses it counts as complete.
      size_t backslashes = 0;
      while (backslashes < visible && text[visible - 1 - backslashes] == '\\') {
        ++backslashes;
      }
      text[visible] = backslashes % 2 == 1 ? ' ' : '"';
      text[visible + 1] = backslashes % 2 == 1 ? '"' : ' ';
      indexed = visible + kClosing;
    } else if (error == simdjson::UTF8_ERROR ||
               error == simdjson::UNESCAPED_CHARS) {
      Sanitize(visible);
    } else {
      break;
    }
    error = indexer_->Run(text, indexed);
  }
  std::copy_n(saved.begin(), indexed - visible, text + visible);
  if (error == simdjson::EMPTY) {
    index_ = JsonIndex{.text = text};
    return {};
  }
  if (error != simdjson::SUCCESS) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("is not JSON near byte {}: {}", window_offset_,
                            simdjson::error_message(error)));
  }
  index_ = JsonIndex{
      .text = text, .at = indexer_->offsets(), .count = indexer_->count()};
  return {};
}

// Replaces what JSON forbids in the window but real traces hold: raw control
// characters inside strings and bytes that are no UTF-8.
void JsonRecordReader::Sanitize(size_t visible) {
  bool in_string = false;
  for (size_t at = 0; at < visible;) {
    char& c = buffer_[at];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const size_t length =
          Utf8Length(std::string_view(buffer_.data() + at, visible - at));
      if (length == 0) {
        c = '?';
        ++counts_.invalid_utf8;
      }
      at += std::max<size_t>(1, length);
      continue;
    }
    if (in_string && byte < 0x20) {
      c = ' ';
      ++counts_.control_characters;
    } else if (in_string && c == '\\') {
      ++at;
    } else if (c == '"') {
      in_string = !in_string;
    }
    ++at;
  }
}

tl::unexpected<Error> JsonRecordReader::Broken(
    std::string_view expected) const {
  const size_t at = position_ < index_.count ? index_.at[position_] : size_;
  const std::string_view found(buffer_.data() + at,
                               std::min<size_t>(12, size_ - at));
  return Fail(
      ErrorCode::kInvalidInput,
      fmt::format("byte {}: expected {}, found {}", window_offset_ + at,
                  expected,
                  found.empty() ? "the end" : "'" + Printable(found) + "'"));
}

}  // namespace stepcast
