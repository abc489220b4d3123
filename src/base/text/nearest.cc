#include "base/text/nearest.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace stepcast {
namespace {

// Letters to insert, delete or replace to get from one word to the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// Words much longer than any name are near none; this also bounds the work.
constexpr size_t kLongestWord = 64;

}  // namespace

std::optional<std::string_view> Nearest(
    std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > kLongestWord) {
    return std::nullopt;
  }
  size_t best_distance = word.size() / 3 + 1;
  std::optional<std::string_view> best;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string OneOf(std::span<const std::string_view> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      text += i + 1 == names.size() ? " or " : ", ";
    }
    text += names[i];
  }
  return text;
}

std::string Unknown(std::string_view what, std::string_view word,
                    std::span<const std::string_view> candidates) {
  const auto nearest = Nearest(word, candidates);
  return nearest ? fmt::format("unknown {} '{}'; did you mean {}?", what, word,
                               *nearest)
                 : fmt::format("unknown {} '{}'; expected {}", what, word,
                               OneOf(candidates));
}

}  // namespace stepcast
