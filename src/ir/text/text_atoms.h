// The smallest elements of the graph's text form, in both directions: quoted
// names, times and tensors.
#ifndef STEPCAST_IR_TEXT_TEXT_ATOMS_H_
#define STEPCAST_IR_TEXT_TEXT_ATOMS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace stepcast::ir {

// One line of the text form, taken apart into its depth and its words.

/// A word or, if `quoted`, the text between quotes, escapes as they are.
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
  /// after '^' in place of them.
  Result<size_t> TakeDepth();

  /// The next word, or nothing at the end of the line.
  Result<std::optional<TextWord>> Next();

 private:
  void SkipBlanks();

  size_t blanks_ = 0;  // In front.
  std::string_view rest_;
};

/// A whole number; nothing if it is anything else or does not fit.
std::optional<int64_t> ParseInt(std::string_view text);
void AppendInt(std::string& out, int64_t number);

/// Any bytes in quotes, with JSON's escapes; a byte that is not UTF-8 is \xNN.
void AppendQuoted(std::string& out, std::string_view bytes);
/// The bytes of the text between the quotes; nothing if an escape is invalid.
std::optional<std::string> Unquote(std::string_view inner);

/// "@12.345+3": start and duration in microseconds.
void AppendTime(std::string& out, const Measured& measured);
std::optional<Measured> ParseTime(std::string_view word);

/// "7", or "2/7" if the stream is on device 2 and that is not the usual one.
struct StreamName {
  std::optional<int64_t> device{};
  int64_t number = 0;
};
void AppendStream(std::string& out, const Stream& stream, int64_t usual_device);
std::optional<StreamName> ParseStream(std::string_view word);

/// "fp32[16,13]@gpu#5": type, dimensions, device and storage.
void AppendTensor(std::string& out, const Tensor& tensor);
std::optional<Tensor> ParseTensor(std::string_view word);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_TEXT_TEXT_ATOMS_H_
