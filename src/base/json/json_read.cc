#include "base/json/json_read.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/text_table.h"

namespace stepcast {

JsonRecordReader::JsonRecordReader(
    ByteSource& source, std::span<const std::string_view> record_arrays)
    : window_(source),
      record_arrays_(record_arrays.begin(), record_arrays.end()) {}

Result<std::optional<JsonRecordReader::Item>> JsonRecordReader::Next() {
  // Most records are entirely in the window, one after the other.
  const JsonIndex& index = window_.index();
  if (state_ == State::kRecords && needs_comma_ &&
      position_ + 1 < index.count && index.char_at(position_) == ',' &&
      index.is_value(position_ + 1)) {
    const JsonValue value(&index, position_ + 1);
    const uint32_t end = value.EndPosition();
    if (end < index.count) {
      position_ = end;
      return std::optional<Item>(
          Item{.key = record_key_, .value = value, .is_record = true});
    }
  }
  if (state_ == State::kStart) {
    ASSIGN_OR_RETURN(const char first, Peek());
    if (first != '{' && first != '[') {
      return Broken("a JSON object or array");
    }
    ++position_;
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

JsonRecordReader::Counts JsonRecordReader::counts() const {
  const JsonWindow::Repairs& repairs = window_.repairs();
  return Counts{.control_characters = repairs.control_characters,
                .invalid_utf8 = repairs.invalid_utf8,
                .truncated = truncated_,
                .trailing_bytes = static_cast<int64_t>(trailing_bytes_)};
}

uint64_t JsonRecordReader::offset() const {
  const JsonIndex& index = window_.index();
  return window_.offset() + (position_ < index.count ? index.at[position_]
                                                     : window_.text().size());
}

Result<std::optional<JsonRecordReader::Item>> JsonRecordReader::NextMember() {
  ASSIGN_OR_RETURN(char next, Peek());
  if (next == ',' && needs_comma_) {
    ++position_;
    needs_comma_ = false;
    ASSIGN_OR_RETURN(next, Peek());
  } else if (next == '}') {
    return EndDocument();
  }
  if (next == 0) {
    return EndTruncated();
  }
  if (next != '"' || needs_comma_) {
    return Broken(needs_comma_ ? "',' or '}'" : "a key in quotes");
  }
  ASSIGN_OR_RETURN(const bool has_key, CompleteValue());
  if (!has_key) {
    return EndTruncated();
  }
  member_key_ = *JsonValue(&window_.index(), position_).raw_string();
  ++position_;
  ASSIGN_OR_RETURN(next, Peek());
  if (next != ':') {
    return Broken("':' after a key");
  }
  ++position_;
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
    return EndTruncated();
  }
  const Item item{.key = member_key_,
                  .value = JsonValue(&window_.index(), position_)};
  position_ = value_end_;
  needs_comma_ = true;
  return std::optional<Item>(item);
}

Result<std::optional<JsonRecordReader::Item>> JsonRecordReader::NextRecord() {
  ASSIGN_OR_RETURN(const char next, Peek());
  if (next == ',' && needs_comma_) {
    ++position_;
  } else if (next == ']') {
    if (top_is_array_) {
      return EndDocument();
    }
    ++position_;
    needs_comma_ = true;
    state_ = State::kMembers;
    return std::optional<Item>();
  } else if (next == 0) {
    return EndTruncated();
  } else if (needs_comma_) {
    return Broken("',' or ']'");
  }
  ASSIGN_OR_RETURN(const bool complete, CompleteValue());
  if (!complete) {
    return EndTruncated();
  }
  const Item item{.key = record_key_,
                  .value = JsonValue(&window_.index(), position_),
                  .is_record = true};
  position_ = value_end_;
  needs_comma_ = true;
  return std::optional<Item>(item);
}

Result<char> JsonRecordReader::Peek() {
  while (position_ >= window_.index().count) {
    if (window_.ended()) {
      return '\0';
    }
    RETURN_IF_ERROR(window_.Advance(position_));
    position_ = 0;
  }
  return window_.index().char_at(position_);
}

Result<bool> JsonRecordReader::CompleteValue() {
  const JsonIndex& index = window_.index();
  while (true) {
    if (position_ < index.count) {
      if (!index.is_value(position_)) {
        return Broken("a value");
      }
      const JsonValue value(&index, position_);
      value_end_ = value.EndPosition();
      // A composite is complete at its bracket; a scalar or string only when
      // something follows it, as the window may have cut it.
      const bool composite = value.is_object() || value.is_array();
      if (value_end_ < index.count ||
          (composite && value_end_ == index.count)) {
        return true;
      }
    }
    if (window_.ended()) {
      return false;
    }
    RETURN_IF_ERROR(window_.Advance(position_));
    position_ = 0;
  }
}

Result<std::optional<JsonRecordReader::Item>> JsonRecordReader::EndTruncated() {
  truncated_ = true;
  state_ = State::kDone;
  position_ = window_.index().count;
  return std::optional<Item>();
}

Result<std::optional<JsonRecordReader::Item>> JsonRecordReader::EndDocument() {
  ++position_;
  RETURN_IF_ERROR(Peek());
  const JsonIndex& index = window_.index();
  const bool has_more = position_ < index.count;
  // Also checks the rest of a compressed source.
  ASSIGN_OR_RETURN(const uint64_t after, window_.Drain());
  trailing_bytes_ =
      has_more ? window_.text().size() - index.at[position_] + after : 0;
  state_ = State::kDone;
  return std::optional<Item>();
}

tl::unexpected<Error> JsonRecordReader::Broken(
    std::string_view expected) const {
  const JsonIndex& index = window_.index();
  const std::string_view text = window_.text();
  const size_t at = position_ < index.count ? index.at[position_] : text.size();
  constexpr size_t kShown = 12;
  const std::string_view found = text.substr(at, kShown);
  return Fail(
      ErrorCode::kInvalidInput,
      fmt::format("byte {}: expected {}, found {}", window_.offset() + at,
                  expected,
                  found.empty() ? "the end" : "'" + Printable(found) + "'"));
}

}  // namespace stepcast
