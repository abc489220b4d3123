// Shapes of the kernels that layers are made of.
#ifndef STEPCAST_MODEL_SHAPES_H_
#define STEPCAST_MODEL_SHAPES_H_

#include <cstdint>
#include <span>

#include "ir/shape.h"
#include "model/model.h"
#include "model/settings.h"

namespace stepcast::model {

/// The types that a precision stands for.
struct Types {
  ir::DType product = ir::DType::kFp32;     // Of matrix products.
  ir::DType activation = ir::DType::kFp32;  // In memory.
  ir::DType parameter = ir::DType::kFp32;
  bool cast = false;  // Parameters are cast for products, as by autocast.
};
Types TypesOf(Precision precision);

/// `inputs` tensors of `elements` into one of as many.
ir::KernelShape Stream(int64_t elements, int64_t inputs, ir::DType dtype,
                       ir::Arithmetic arithmetic = ir::Arithmetic::kPlain);
/// One tensor in another type.
ir::KernelShape Cast(int64_t elements, ir::DType from, ir::DType to);
/// `columns` numbers repeated on `rows` rows.
ir::KernelShape Broadcast(int64_t rows, int64_t columns, ir::DType dtype);
ir::KernelShape Zeros(int64_t elements, ir::DType dtype);

/// y[rows, out] = x[rows, in] w[out, in]^T, and its gradients.
ir::Gemm Forward(int64_t rows, int64_t in, int64_t out, ir::DType dtype);
ir::Gemm DataGradient(int64_t rows, int64_t in, int64_t out, ir::DType dtype);
ir::Gemm WeightGradient(int64_t rows, int64_t in, int64_t out, ir::DType dtype);
/// Sums over the rows.
ir::Reduction ColumnSum(int64_t rows, int64_t columns, ir::DType dtype);
ir::Reduction Sum(int64_t elements, ir::DType dtype);

/// What lookups in tables need to know besides the tables.
struct LookupOptions {
  int64_t batch = 0;
  ir::DType dtype = ir::DType::kFp32;
  ir::DType index_dtype = ir::DType::kInt64;
  ir::BagKernel kernel = ir::BagKernel::kTableBatched;
  double alpha = -1;  // See CommonAlpha.
};

/// All tables, one or more, in one bag.
ir::EmbeddingBag Lookup(std::span<const TableGroup> tables,
                        const LookupOptions& options);

/// Ids of a batch, over all tables.
int64_t LookupsOf(std::span<const TableGroup> tables, int64_t batch);

/// NVIDIA's models pad the interaction's result so that rows start aligned: 479
/// to 480.
inline constexpr int64_t kRowPadding = 8;
int64_t PaddedTo(int64_t columns, int64_t multiple);

ir::Update UpdateOf(Optimizer optimizer);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_SHAPES_H_
