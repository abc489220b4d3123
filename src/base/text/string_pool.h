// Strings stored once and referred to by a 32-bit id.
#ifndef STEPCAST_BASE_TEXT_STRING_POOL_H_
#define STEPCAST_BASE_TEXT_STRING_POOL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace stepcast {

struct StringTag {};
using StringId = Id<StringTag>;

/// A fast 64-bit hash of bytes; the same on every machine of one byte order.
uint64_t HashBytes(std::string_view bytes);

/// Interns strings. Id 0 is always the empty string. Views stay valid for the
/// pool's lifetime, also when it moves; ids follow the order of first use.
/// A copy has the same ids and its own bytes.
class StringPool {
 public:
  StringPool();
  StringPool(const StringPool& other);
  StringPool& operator=(const StringPool& other);
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;
  ~StringPool() = default;

  StringId Intern(std::string_view text);
  /// The id of `text` if it was interned, otherwise an invalid id.
  StringId Find(std::string_view text) const;
  std::string_view view(StringId id) const {
    CHECK(id.value < views_.size()) << id.value;
    return views_[id.value];
  }
  uint32_t size() const { return static_cast<uint32_t>(views_.size()); }

  static constexpr StringId kEmpty{0};

 private:
  struct Slot {
    uint32_t hash = 0;  // The upper half of the hash.
    uint32_t id = StringId::kNone;
  };

  size_t Probe(uint64_t hash, std::string_view text) const;
  std::string_view Store(std::string_view text);
  void Grow();

  std::vector<std::vector<char>> blocks_;
  size_t block_used_ = 0;
  std::vector<std::string_view> views_;
  std::vector<Slot> slots_;  // Open addressing, a power of two.
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_TEXT_STRING_POOL_H_
