#include "trace/read/torch_et/json_document.h"

#include <cstddef>

#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// After the string that begins at `at`, or the end if it is cut off.
size_t EndOfString(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

}  // namespace

std::vector<std::string_view> TopLevelKeys(std::string_view head) {
  std::vector<std::string_view> keys;
  size_t at = head.find_first_not_of(kSpace);
  if (at == std::string_view::npos || head[at] != '{') {
    return keys;
  }
  int depth = 0;
  while (at < head.size()) {
    const char c = head[at];
    if (c == '"') {
      const size_t end = EndOfString(head, at);
      const size_t next = head.find_first_not_of(kSpace, end);
      if (depth == 1 && next != std::string_view::npos && head[next] == ':') {
        keys.push_back(head.substr(at + 1, end - at - 2));
      }
      at = end;
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      break;
    }
    ++at;
  }
  return keys;
}

void ReportCounts(const JsonRecordReader::Counts& counts,
                  Diagnostics& diagnostics) {
  diagnostics.Add(kTruncated, {}, counts.truncated ? 1 : 0);
  diagnostics.Add(kControlCharacters, {}, counts.control_characters);
  diagnostics.Add(kInvalidUtf8, {}, counts.invalid_utf8);
  diagnostics.Add(kTrailingData, {}, counts.trailing_bytes > 0 ? 1 : 0);
}

}  // namespace stepcast::trace
