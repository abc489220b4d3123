#include "ingest/rank_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

namespace stepcast::ingest {
namespace {

// Ranks of the largest jobs have six digits; longer numbers are dates or
// process ids.
constexpr size_t kMostDigits = 6;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<int64_t> NumberAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsDigit(text[end])) {
    ++end;
  }
  if (end == at || end - at > kMostDigits) {
    return std::nullopt;
  }
  int64_t number = 0;
  std::from_chars(text.data() + at, text.data() + end, number);
  return number;
}

// The number behind the last "rank" or "worker", with one separator or none.
std::optional<int64_t> NumberBehind(std::string_view text,
                                    std::string_view word) {
  for (size_t at = text.rfind(word); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(word, at - 1)) {
    size_t next = at + word.size();
    if (next < text.size() &&
        std::string_view("-_.=").find(text[next]) != std::string_view::npos) {
      ++next;
    }
    if (const auto number = NumberAt(text, next)) {
      return number;
    }
  }
  return std::nullopt;
}

// The last number that stands alone between separators: dlrm_eg_3_plus. The
// parts of a version (1.0.1) do not.
std::optional<int64_t> LoneNumber(std::string_view name) {
  const auto separates = [&](size_t at) {
    return at >= name.size() ||
           std::string_view("-_.").find(name[at]) != std::string_view::npos;
  };
  const auto digit_at = [&](size_t at) {
    return at < name.size() && IsDigit(name[at]);
  };
  std::optional<int64_t> found;
  for (size_t at = 0; at < name.size(); ++at) {
    if (!IsDigit(name[at])) {
      continue;
    }
    size_t end = at;
    while (digit_at(end)) {
      ++end;
    }
    const bool in_version =
        (end < name.size() && name[end] == '.' && digit_at(end + 1)) ||
        (at >= 2 && name[at - 1] == '.' && digit_at(at - 2));
    if (separates(end) && (at == 0 || separates(at - 1)) && !in_version) {
      const auto number = NumberAt(name, at);
      found = number ? number : found;
    }
    at = end;
  }
  return found;
}

}  // namespace

std::optional<int64_t> RankFromName(std::string_view path) {
  std::string lower(path);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  const size_t slash = lower.rfind('/');
  const std::string_view name = std::string_view(lower).substr(
      slash == std::string::npos ? 0 : slash + 1);
  for (const std::string_view word : {"rank", "worker"}) {
    if (const auto number = NumberBehind(name, word)) {
      return number;
    }
  }
  if (const auto number = LoneNumber(name)) {
    return number;
  }
  // A folder a rank: rank3/trace.json.
  return NumberBehind(lower, "rank");
}

}  // namespace stepcast::ingest
