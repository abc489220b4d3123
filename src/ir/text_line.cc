#include "ir/text_line.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/describe.h"
#include "ir/text_atoms.h"

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
                fmt::format("{}: expected a depth behind '^'", Shown(*word)));
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
                  fmt::format("no blank behind {}", Shown(word)));
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

}  // namespace stepcast::ir
