#include "base/json/json_window.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/text/utf8.h"

namespace stepcast {
namespace {

// A space and a quote's worth of room to close a cut string.
constexpr size_t kClosing = 2;

// How many bytes at the end of `text` are the beginning of a character whose
// end is missing.
size_t CutCharacter(std::string_view text) {
  constexpr size_t kLongest = 4;
  for (size_t back = 1; back < kLongest && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte >= 0xC0) {
      const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
      return length > back ? back : 0;
    }
    if (byte < 0x80) {
      return 0;
    }
  }
  return 0;
}

}  // namespace

// simdjson's stage 1 after a size that only grows.
class JsonWindow::Indexer {
 public:
  simdjson::error_code Run(const char* text, size_t size) {
    if (parser_ == nullptr || size > parser_->capacity()) {
      const auto error = simdjson::get_active_implementation()
                             ->create_dom_parser_implementation(
                                 size, simdjson::DEFAULT_MAX_DEPTH, parser_);
      if (error != simdjson::SUCCESS) {
        return error;
      }
    }
    return parser_->stage1(reinterpret_cast<const uint8_t*>(text), size,
                           simdjson::stage1_mode::regular);
  }
  uint32_t* offsets() const { return parser_->structural_indexes.get(); }
  uint32_t count() const { return parser_->n_structural_indexes; }

 private:
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
};

JsonWindow::JsonWindow(ByteSource& source)
    : source_(source),
      indexer_(std::make_unique<Indexer>()),
      buffer_(kFirstSize + kClosing + simdjson::SIMDJSON_PADDING) {}

JsonWindow::~JsonWindow() = default;

size_t JsonWindow::room() const {
  return buffer_.size() - kClosing - simdjson::SIMDJSON_PADDING;
}

Status JsonWindow::Advance(uint32_t position) {
  const bool has_text = offset_ + size_ > 0;
  const size_t done = position < index_.count ? index_.at[position] : visible_;
  std::memmove(buffer_.data(), buffer_.data() + done, size_ - done);
  offset_ += done;
  size_ -= done;
  if (size_ > kLongestValue) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("one JSON value at byte {} is longer than {} MiB",
                            offset_, kLongestValue >> 20));
  }
  if (has_text && (room() < kSize || size_ > room() / 2)) {
    buffer_.resize(room() * 2 + kClosing + simdjson::SIMDJSON_PADDING);
  }
  RETURN_IF_ERROR(Fill());
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (!has_text &&
      std::string_view(buffer_.data(), size_).starts_with(kByteOrderMark)) {
    std::fill_n(buffer_.data(), kByteOrderMark.size(), ' ');
  }
  return Index();
}

Status JsonWindow::Fill() {
  const size_t limit = room();
  while (size_ < limit && !source_ended_) {
    ASSIGN_OR_RETURN(const size_t got, source_.Read(std::span(buffer_).subspan(
                                           size_, limit - size_)));
    size_ += got;
    source_ended_ = got == 0;
  }
  return {};
}

Result<uint64_t> JsonWindow::Drain() {
  uint64_t after = size_ - visible_;
  while (!source_ended_) {
    // The window itself stays as it is: its values are in use.
    std::array<char, 4096> dropped{};
    ASSIGN_OR_RETURN(const size_t got, source_.Read(dropped));
    after += got;
    source_ended_ = got == 0;
  }
  return after;
}

// Where to end the index so that as little as possible is cut: at the end of a
// line, where the text has lines; otherwise at least not inside a character.
size_t JsonWindow::VisibleSize() const {
  if (source_ended_) {
    return size_;
  }
  const size_t half = size_ / 2;
  const void* newline = memrchr(buffer_.data() + half, '\n', size_ - half);
  if (newline != nullptr) {
    return static_cast<size_t>(static_cast<const char*>(newline) + 1 -
                               buffer_.data());
  }
  return size_ - CutCharacter({buffer_.data(), size_});
}

Status JsonWindow::Index() {
  visible_ = VisibleSize();
  char* text = buffer_.data();
  size_t indexed = visible_;
  std::array<char, kClosing> saved{};
  std::copy_n(text + visible_, kClosing, saved.begin());
  simdjson::error_code error = indexer_->Run(text, indexed);
  if (error == simdjson::UNCLOSED_STRING) {
    // The window ends inside a string: close it for the index's sake. The
    // string is the last entry, so no value that uses it counts as complete.
    size_t backslashes = 0;
    while (backslashes < visible_ && text[visible_ - 1 - backslashes] == '\\') {
      ++backslashes;
    }
    text[visible_] = backslashes % 2 == 1 ? ' ' : '"';
    text[visible_ + 1] = backslashes % 2 == 1 ? '"' : ' ';
    indexed = visible_ + kClosing;
    error = indexer_->Run(text, indexed);
  }
  if (error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS) {
    Repair();
    error = indexer_->Run(text, indexed);
  }
  std::copy_n(saved.begin(), kClosing, text + visible_);
  if (error == simdjson::EMPTY) {
    index_ = JsonIndex{.text = text};
    return {};
  }
  if (error != simdjson::SUCCESS) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("is not JSON near byte {}: {}", offset_,
                            simdjson::error_message(error)));
  }
  indexer_->offsets()[indexer_->count()] = static_cast<uint32_t>(visible_);
  index_ = JsonIndex{
      .text = text, .at = indexer_->offsets(), .count = indexer_->count()};
  MatchBrackets();
  return {};
}

// Follows strings exactly as simdjson does: a backslash escapes what follows
// it anywhere.
void JsonWindow::Repair() {
  bool in_string = false;
  for (size_t at = 0; at < visible_; ++at) {
    char& c = buffer_[at];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const size_t length =
          Utf8Length(std::string_view(buffer_.data() + at, visible_ - at));
      if (length == 0) {
        c = '?';
        ++repairs_.invalid_utf8;
      } else {
        at += length - 1;
      }
    } else if (in_string && byte < 0x20) {
      c = ' ';
      ++repairs_.control_characters;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (c == '\\' && at + 1 < visible_ &&
               (buffer_[at + 1] == '"' || buffer_[at + 1] == '\\')) {
      ++at;
    }
  }
}

// Brackets are matched by count alone; whether '{' meets '}' is for the reader
// of the value to see. While a bracket is open its entry holds the position of
// the one around it.
void JsonWindow::MatchBrackets() {
  const uint32_t count = index_.count;
  if (count > ends_size_) {
    ends_size_ = std::max<size_t>(count, ends_size_ * 2);
    // NOLINTNEXTLINE(modernize-avoid-c-arrays)
    ends_ = std::make_unique_for_overwrite<uint32_t[]>(ends_size_);
  }
  uint32_t* ends = ends_.get();
  index_.end = ends;
  uint32_t open = count;  // The innermost open bracket; count is none.
  for (uint32_t position = 0; position < count; ++position) {
    // One bit makes a square bracket curly, and hardly anything but brackets
    // passes the mask: one branch settles most positions.
    const int c = index_.char_at(position) | 0x20;
    if ((c & 0xF9) != ('{' & '}')) {
      continue;
    }
    if (c == '{') {
      ends[position] = open;
      open = position;
    } else if (c == '}' && open != count) {
      const uint32_t around = ends[open];
      ends[open] = position + 1;
      open = around;
    }
  }
  while (open != count) {
    const uint32_t around = ends[open];
    ends[open] = count + 1;
    open = around;
  }
}

}  // namespace stepcast
