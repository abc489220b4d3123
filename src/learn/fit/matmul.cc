#include "learn/fit/matmul.h"

#include <cstring>
#include <vector>

#include "base/check.h"

namespace stepcast::learn {
namespace {

// Floats that are added and multiplied at once.
using NarrowLanes = float __attribute__((vector_size(16)));
using WideLanes = float __attribute__((vector_size(32)));

// Two vectors of a row of c, or of a row of b. Compilers keep them in registers
// as long as everything that touches them is inlined.
template <typename Lanes>
struct Piece {
  static constexpr size_t kSize = 2 * sizeof(Lanes) / sizeof(float);
  Lanes low;
  Lanes high;

  [[gnu::always_inline]] void Load(const float* from) {
    std::memcpy(&low, from, sizeof(low));
    std::memcpy(&high, from + kSize / 2, sizeof(high));
  }
  [[gnu::always_inline]] void Store(float* to) const {
    std::memcpy(to, &low, sizeof(low));
    std::memcpy(to + kSize / 2, &high, sizeof(high));
  }
  [[gnu::always_inline]] void Add(float factor, const Piece& piece) {
    low += factor * piece.low;
    high += factor * piece.high;
  }
};

// The columns of b that a piece spans, side by side for every place of `inner`.
struct Panel {
  const float* data = nullptr;
  size_t inner = 0;
};

// Adds to four pieces of c, one below the other, held in registers over all of
// `inner`: eight running sums, enough to hide the latency of an addition.
template <typename Lanes>
[[gnu::always_inline]] inline void AddFour(const MatrixView& a,
                                           const Panel& panel, float* c,
                                           size_t c_step) {
  Piece<Lanes> first;
  Piece<Lanes> second;
  Piece<Lanes> third;
  Piece<Lanes> fourth;
  first.Load(c);
  second.Load(c + c_step);
  third.Load(c + 2 * c_step);
  fourth.Load(c + 3 * c_step);
  for (size_t k = 0; k < panel.inner; ++k) {
    Piece<Lanes> factors;
    factors.Load(panel.data + k * factors.kSize);
    first.Add(a.At(0, k), factors);
    second.Add(a.At(1, k), factors);
    third.Add(a.At(2, k), factors);
    fourth.Add(a.At(3, k), factors);
  }
  first.Store(c);
  second.Store(c + c_step);
  third.Store(c + 2 * c_step);
  fourth.Store(c + 3 * c_step);
}

template <typename Lanes>
[[gnu::always_inline]] inline void AddOne(const MatrixView& a,
                                          const Panel& panel, float* c) {
  Piece<Lanes> sums;
  sums.Load(c);
  for (size_t k = 0; k < panel.inner; ++k) {
    Piece<Lanes> factors;
    factors.Load(panel.data + k * factors.kSize);
    sums.Add(a.At(0, k), factors);
  }
  sums.Store(c);
}

template <typename Lanes>
[[gnu::always_inline]] inline void AddAll(const MatrixView& a,
                                          const MatrixView& b,
                                          const ProductSize& size,
                                          float* buffer, float* c) {
  constexpr size_t kColumns = Piece<Lanes>::kSize;
  for (size_t j = 0; j < size.columns; j += kColumns) {
    for (size_t k = 0; k < size.inner; ++k) {
      float* place = buffer + k * kColumns;
      if (b.column_step == 1) {
        std::memcpy(place, b.data + k * b.row_step + j,
                    kColumns * sizeof(float));
        continue;
      }
      for (size_t column = 0; column < kColumns; ++column) {
        place[column] = b.At(k, j + column);
      }
    }
    const Panel panel{.data = buffer, .inner = size.inner};
    MatrixView rows = a;
    size_t i = 0;
    for (; i + 4 <= size.rows; i += 4) {
      rows.data = a.data + i * a.row_step;
      AddFour<Lanes>(rows, panel, c + i * size.columns + j, size.columns);
    }
    for (; i < size.rows; ++i) {
      rows.data = a.data + i * a.row_step;
      AddOne<Lanes>(rows, panel, c + i * size.columns + j);
    }
  }
}

void AddNarrow(const MatrixView& a, const MatrixView& b,
               const ProductSize& size, float* buffer, float* c) {
  AddAll<NarrowLanes>(a, b, size, buffer, c);
}

#if defined(__x86_64__)
// AVX2 without FMA: twice the width, the same bits.
[[gnu::target("avx2")]] void AddWide(const MatrixView& a, const MatrixView& b,
                                     const ProductSize& size, float* buffer,
                                     float* c) {
  AddAll<WideLanes>(a, b, size, buffer, c);
}

bool HasWide() {
  return __builtin_cpu_supports("avx2") != 0;
}
#else
constexpr auto AddWide = AddNarrow;

bool HasWide() {
  return false;
}
#endif

}  // namespace

void AddProduct(const MatrixView& a, const MatrixView& b,
                const ProductSize& size, float* c) {
  CHECK(size.columns % kColumnStep == 0) << size.columns;
  static_assert(kColumnStep % Piece<WideLanes>::kSize == 0);
  std::vector<float> buffer(size.inner * Piece<WideLanes>::kSize);
  if (HasWide()) {
    AddWide(a, b, size, buffer.data(), c);
  } else {
    AddNarrow(a, b, size, buffer.data(), c);
  }
}

}  // namespace stepcast::learn
