// One line of the text form, taken apart into its depth and its words.
#ifndef STEPCAST_IR_TEXT_LINE_H_
#define STEPCAST_IR_TEXT_LINE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepcast::ir {

/// A word or, if `quoted`, what stands between quotes, escapes as they are.
struct TextWord {
  std::string_view text;
  bool quoted = false;
};

/// The word as messages show it: printable, in quotes, and not too long.
std::string Shown(TextWord word);

class TextLine {
 public:
  /// `line` without its newline.
  explicit TextLine(std::string_view line);

  /// Whether there is nothing but blanks or a comment.
  bool is_empty() const { return rest_.empty() || rest_.front() == '#'; }

  /// To be called once, before Next: half the blanks in front, or the number
  /// behind '^' in place of them.
  Result<size_t> TakeDepth();

  /// The next word, or nothing at the end of the line.
  Result<std::optional<TextWord>> Next();

 private:
  void SkipBlanks();

  size_t blanks_ = 0;  // In front.
  std::string_view rest_;
};

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_TEXT_LINE_H_
