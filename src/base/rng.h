// Seeded pseudo-random numbers: the same on every machine and compiler.
#ifndef STEPCAST_BASE_RNG_H_
#define STEPCAST_BASE_RNG_H_

#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace stepcast {

/// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014, with the constants of Vigna's public-domain
/// reference. Good for tests and sampling, not for secrets.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  /// 64 random bits.
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

  /// 0 .. size - 1. Small sizes come out even to within size / 2^64.
  uint64_t Below(uint64_t size) {
    CHECK(size > 0);
    return Next() % size;
  }

  /// low .. high, both included.
  int64_t Between(int64_t low, int64_t high) {
    CHECK(low <= high) << low << " " << high;
    const uint64_t span =
        static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const uint64_t offset = span == UINT64_MAX ? Next() : Below(span + 1);
    return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
  }

  /// Nearly normal: twelve uniform numbers have a variance of one.
  double Normal() {
    constexpr int kUniforms = 12;
    constexpr double kScale = 0x1p-53;
    double sum = 0;
    for (int i = 0; i < kUniforms; ++i) {
      sum += static_cast<double>(Next() >> 11) * kScale;
    }
    return sum - kUniforms / 2.0;
  }

  /// True in one of `times` cases.
  bool OneIn(uint64_t times) { return Below(times) == 0; }

  /// One of the items, which must not be empty.
  template <typename Items>
  const auto& Pick(const Items& items) {
    return items[static_cast<size_t>(Below(items.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_RNG_H_
