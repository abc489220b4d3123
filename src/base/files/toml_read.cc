#include "base/files/toml_read.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/text/join.h"

namespace stepcast {
namespace {

std::atomic<void (*)(std::string_view source)>& TomlObserver() {
  static std::atomic<void (*)(std::string_view source)> observer = nullptr;
  return observer;
}

tl::unexpected<Error> FailAt(const toml::source_region& region,
                             std::string_view message) {
  const std::string source = region.path ? *region.path : "TOML";
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}:{}: {}", source, region.begin.line, message));
}

// Walks over the text outside of strings and comments.
class PlainText {
 public:
  explicit PlainText(std::string_view text) : text_(text) {}

  // The line of the first byte that is not ASCII; 0 if there is none.
  size_t FirstForeignLine() {
    while (at_ < text_.size()) {
      const char byte = text_[at_];
      if (byte == '#') {
        SkipTo("\n");
      } else if ((byte == '"' || byte == '\'') && CanBeginString()) {
        SkipString(byte);
      } else if (IsForeign(at_)) {
        return 1 + static_cast<size_t>(
                       std::ranges::count(text_.substr(0, at_), '\n'));
      } else {
        ++at_;
      }
    }
    return 0;
  }

 private:
  bool IsForeign(size_t at) const {
    constexpr unsigned char kFirstForeign = 0x80;
    return at < text_.size() &&
           static_cast<unsigned char>(text_[at]) >= kFirstForeign;
  }

  // A quote after anything else is part of a malformed word, in which toml++
  // looks at every letter (256"..."); so is one after a bracket that opens
  // nothing (2$["...").
  bool CanBeginString() const {
    constexpr std::string_view kBefore = " \t\r\n=,";
    size_t at = at_;
    while (at > 0 && (text_[at - 1] == '[' || text_[at - 1] == '{')) {
      --at;
    }
    return at == 0 || kBefore.find(text_[at - 1]) != std::string_view::npos;
  }

  void SkipTo(std::string_view mark) {
    const size_t found = text_.find(mark, at_);
    at_ = found == std::string_view::npos ? text_.size() : found;
  }

  // Strings of one line end with it at the latest; those of three quotes do
  // not.
  void SkipString(char quote) {
    const std::string triple(3, quote);
    const bool many_lines = text_.substr(at_).starts_with(triple);
    at_ += many_lines ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        // Nor does it expect a letter beyond ASCII after a backslash.
        if (IsForeign(at_ + 1)) {
          ++at_;
          return;
        }
        at_ += 2;
      } else if (many_lines ? text_.substr(at_).starts_with(triple)
                            : text_[at_] == quote || text_[at_] == '\n') {
        at_ += many_lines ? 3 : 1;
        return;
      } else {
        ++at_;
      }
    }
    at_ = text_.size();
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

void ObserveToml(void (*observer)(std::string_view source)) {
  TomlObserver() = observer;
}

Result<toml::table> ParseToml(std::string_view text, std::string_view source) {
  // toml++ 3.3 loses its way at a letter beyond ASCII after a number; TOML
  // knows none outside of strings and comments but a mark at the start.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const size_t skipped =
      text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (const size_t line = PlainText(text.substr(skipped)).FirstForeignLine()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}:{}: a character that is not ASCII; expected "
                            "those in strings and comments only",
                            source.empty() ? "TOML" : source, line));
  }
  if (const auto observer = TomlObserver().load()) {
    observer(source);
  }
  toml::parse_result result = toml::parse(text, source);
  if (!result) {
    // toml++ starts its messages in upper case: "Error while parsing ...".
    std::string message(result.error().description());
    if (message.starts_with("Error ")) {
      message[0] = 'e';
    }
    return FailAt(result.error().source(), message);
  }
  return std::move(result).table();
}

Result<toml::table> LoadToml(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseToml(text, path.string());
}

tl::unexpected<Error> FailAt(const toml::node& node, std::string_view message) {
  return FailAt(node.source(), message);
}

Status CheckKeys(const toml::table& table,
                 std::span<const std::string_view> known) {
  for (const auto& [key, value] : table) {
    const std::string_view name = key.str();
    if (std::ranges::find(known, name) == known.end()) {
      return FailAt(key.source(),
                    fmt::format("unknown key '{}'; expected one of: {}", name,
                                Join(known, ", ")));
    }
  }
  return {};
}

Result<std::string> GetOptionalString(const toml::table& table,
                                      std::string_view key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return std::string();
  }
  if (!node->is_string()) {
    return FailAt(*node, fmt::format("'{}' must be a string", key));
  }
  return node->as_string()->get();
}

Result<std::string> GetString(const toml::table& table, std::string_view key) {
  ASSIGN_OR_RETURN(std::string text, GetOptionalString(table, key));
  if (text.empty()) {
    return FailAt(table, fmt::format("'{}' is missing or empty", key));
  }
  return text;
}

Result<std::vector<std::string>> GetStrings(const toml::table& table,
                                            std::string_view key) {
  const toml::array* list = table.get_as<toml::array>(key);
  if (list == nullptr || list->empty()) {
    return FailAt(table, fmt::format("'{}' must be a list of strings", key));
  }
  std::vector<std::string> texts;
  texts.reserve(list->size());
  for (const toml::node& node : *list) {
    if (!node.is_string() || node.as_string()->get().empty()) {
      return FailAt(node, fmt::format("'{}' must hold strings only, none of "
                                      "them empty",
                                      key));
    }
    texts.push_back(node.as_string()->get());
  }
  return texts;
}

}  // namespace stepcast
