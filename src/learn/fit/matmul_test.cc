#include "learn/fit/matmul.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace stepcast::learn {
namespace {

std::vector<float> Noise(size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(rng.Between(-1000, 1000)) / 999.0F;
  }
  return values;
}

// The definition, one element after another.
std::vector<float> Plain(const MatrixView& a, const MatrixView& b,
                         const ProductSize& size, std::vector<float> c) {
  for (size_t i = 0; i < size.rows; ++i) {
    for (size_t j = 0; j < size.columns; ++j) {
      for (size_t k = 0; k < size.inner; ++k) {
        c[i * size.columns + j] += a.At(i, k) * b.At(k, j);
      }
    }
  }
  return c;
}

TEST(MatmulTest, AddsTheProductOfTwoMatrices) {
  // (1 2) by a column of 10s over one of 1s: 12, on top of 5.
  const std::vector<float> a = {1, 2};
  std::vector<float> b(2 * kColumnStep, 1);
  for (size_t j = 0; j < kColumnStep; ++j) {
    b[j] = 10;
  }
  std::vector<float> c(kColumnStep, 5);
  AddProduct({.data = a.data(), .row_step = 2},
             {.data = b.data(), .row_step = kColumnStep},
             {.rows = 1, .inner = 2, .columns = kColumnStep}, c.data());
  EXPECT_EQ(c, std::vector<float>(kColumnStep, 17));
}

TEST(MatmulTest, IsTheDefinitionToTheBitForEveryNumberOfRows) {
  for (size_t rows = 1; rows <= 9; ++rows) {
    const ProductSize size{.rows = rows, .inner = 7, .columns = 48};
    const auto a = Noise(rows * size.inner, rows);
    const auto b = Noise(size.inner * size.columns, 100 + rows);
    const MatrixView left{.data = a.data(), .row_step = size.inner};
    const MatrixView right{.data = b.data(), .row_step = size.columns};
    std::vector<float> c = Noise(rows * size.columns, 200 + rows);
    const std::vector<float> expected = Plain(left, right, size, c);
    AddProduct(left, right, size, c.data());
    for (size_t i = 0; i < c.size(); ++i) {
      EXPECT_EQ(c[i], expected[i]) << rows << " rows, element " << i;
    }
  }
}

TEST(MatmulTest, ReadsTransposedFactorsInPlace) {
  const ProductSize size{.rows = 6, .inner = 5, .columns = 32};
  // Stored the other way round: [inner, rows] and [columns, inner].
  const auto a = Noise(size.inner * size.rows, 1);
  const auto b = Noise(size.columns * size.inner, 2);
  const MatrixView left = Transposed({.data = a.data(), .row_step = size.rows});
  const MatrixView right =
      Transposed({.data = b.data(), .row_step = size.inner});
  EXPECT_EQ(left.At(2, 3), a[3 * size.rows + 2]);
  std::vector<float> c(size.rows * size.columns, 0);
  const std::vector<float> expected = Plain(left, right, size, c);
  AddProduct(left, right, size, c.data());
  for (size_t i = 0; i < c.size(); ++i) {
    EXPECT_FLOAT_EQ(c[i], expected[i]) << i;
  }
}

}  // namespace
}  // namespace stepcast::learn
