// Random numbers that are the same with every standard library.
#ifndef STEPCAST_COLLECT_CUDA_RANDOM_H_
#define STEPCAST_COLLECT_CUDA_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace stepcast::collect {

/// FNV-1a of a text: checksums, and seeds from names.
uint64_t Hash(std::string_view text);

/// SplitMix64 (Steele, Lea and Flood 2014): one multiplication chain per value,
/// good for every seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next();
  /// In [0, 1).
  double Uniform();
  /// In [0, count); count is 1 or more.
  int64_t Below(int64_t count);

  template <typename T>
  const T& Pick(const std::vector<T>& values) {
    return values[static_cast<size_t>(
        Below(static_cast<int64_t>(values.size())))];
  }

  template <typename T>
  void Shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1],
                values[static_cast<size_t>(Below(static_cast<int64_t>(i)))]);
    }
  }

 private:
  uint64_t state_;
};

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_RANDOM_H_
