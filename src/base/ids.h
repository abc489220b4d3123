// Dense typed indices, and vectors that only their own index opens.
#ifndef STEPCAST_BASE_IDS_H_
#define STEPCAST_BASE_IDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace stepcast {

/// An index into one kind of thing. Id<OpTag> does not convert to
/// Id<ActivityTag>.
template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  uint32_t value = kNone;

  constexpr bool valid() const { return value != kNone; }
  // clang-tidy 14 takes the 0 in a rewritten `a < b` for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend constexpr auto operator<=>(Id, Id) = default;
};

/// Consecutive ids [first, first + count).
template <typename IdType>
struct IdRange {
  uint32_t first = 0;
  uint32_t count = 0;

  constexpr bool contains(IdType id) const {
    return id.value >= first && id.value - first < count;
  }
  friend constexpr auto operator<=>(IdRange, IdRange) = default;

  class Iterator {
   public:
    constexpr explicit Iterator(uint32_t value) : value_(value) {}
    constexpr IdType operator*() const { return IdType{value_}; }
    constexpr Iterator& operator++() {
      ++value_;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    uint32_t value_;
  };
  constexpr Iterator begin() const { return Iterator(first); }
  constexpr Iterator end() const { return Iterator(first + count); }
};

/// A vector indexed by one kind of id. Access is checked in all builds.
template <typename IdType, typename T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(size_t size, const T& value = T()) : items_(size, value) {}

  T& operator[](IdType id) {
    CHECK(id.value < items_.size()) << id.value << " of " << items_.size();
    return items_[id.value];
  }
  const T& operator[](IdType id) const {
    CHECK(id.value < items_.size()) << id.value << " of " << items_.size();
    return items_[id.value];
  }

  /// Appends and returns the new id.
  IdType push_back(T item) {
    CHECK(items_.size() < IdType::kNone);
    items_.push_back(std::move(item));
    return IdType{static_cast<uint32_t>(items_.size() - 1)};
  }

  uint32_t size() const { return static_cast<uint32_t>(items_.size()); }
  bool empty() const { return items_.empty(); }
  void reserve(size_t count) { items_.reserve(count); }
  IdRange<IdType> ids() const { return {0, size()}; }
  IdType next_id() const { return IdType{size()}; }

  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  const std::vector<T>& items() const { return items_; }

  friend bool operator==(const IdVector&, const IdVector&) = default;

 private:
  std::vector<T> items_;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_IDS_H_
