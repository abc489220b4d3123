// The product of two small dense matrices, for training networks.
#ifndef STEPCAST_LEARN_FIT_MATMUL_H_
#define STEPCAST_LEARN_FIT_MATMUL_H_

#include <cstddef>

namespace stepcast::learn {

/// Where the elements of a matrix are: element (i, j) is at
/// data[i * row_step + j * column_step], so a transpose swaps the steps.
struct MatrixView {
  const float* data = nullptr;
  size_t row_step = 0;
  size_t column_step = 1;

  float At(size_t i, size_t j) const {
    return data[i * row_step + j * column_step];
  }
};

inline MatrixView Transposed(const MatrixView& view) {
  return {.data = view.data,
          .row_step = view.column_step,
          .column_step = view.row_step};
}

/// The sizes of a product: [rows, inner] by [inner, columns].
struct ProductSize {
  size_t rows = 0;
  size_t inner = 0;
  size_t columns = 0;  // A multiple of kColumnStep.
};
inline constexpr size_t kColumnStep = 16;

/// c += a b, with c stored row after row without gaps. Every element is summed
/// in the order of `inner`, and on x86-64 no operation is fused, so that
/// processors with and without AVX2 agree to the bit.
void AddProduct(const MatrixView& a, const MatrixView& b,
                const ProductSize& size, float* c);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_MATMUL_H_
