// Name patterns: '*' stands for any text, everything else for itself.
#ifndef STEPCAST_BASE_TEXT_GLOB_H_
#define STEPCAST_BASE_TEXT_GLOB_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast {

/// A pattern over a whole name, case-sensitive: "void cub::*Scan*".
class Glob {
 public:
  explicit Glob(std::string_view pattern);

  /// Takes time linear in the length of pattern and name, whatever they hold.
  bool Matches(std::string_view name) const;

  /// The text between the stars; the first and the last fragment are anchored
  /// to the ends of the name and may be empty.
  const std::vector<std::string>& fragments() const { return fragments_; }

 private:
  std::vector<std::string> fragments_;
  size_t shortest_ = 0;  // Length of the shortest name that can match.
};

/// Patterns in order of priority. Made for long lists asked about long names:
/// a pattern is tried only if the name contains some of its trigrams.
class GlobList {
 public:
  void Add(std::string_view pattern);
  /// The position of the first pattern that matches.
  std::optional<size_t> FindFirst(std::string_view name) const;
  size_t size() const { return patterns_.size(); }

 private:
  static constexpr size_t kBits = 8192;
  using Trigrams = std::bitset<kBits>;
  struct Entry {
    Glob glob;
    std::vector<uint16_t> trigrams;  // Bits that the name must have.
  };

  static uint16_t TrigramAt(std::string_view text, size_t at);

  std::vector<Entry> patterns_;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_TEXT_GLOB_H_
