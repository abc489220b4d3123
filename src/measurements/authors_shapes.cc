#include "measurements/authors_shapes.h"

#include <algorithm>
#include <numeric>

namespace stepcast::measurements {
namespace {

constexpr int64_t kFloatBytes = 4;
constexpr int64_t kIdBytes = 4;        // Ids and offsets of the lookups.
constexpr int64_t kTensorIdBytes = 8;  // Ids of PyTorch's own indexing.

ir::Gemm Product(int64_t m, int64_t n, int64_t k) {
  return {.batch = 1, .m = m, .n = n, .k = k, .dtype = ir::DType::kFp32};
}

}  // namespace

ir::KernelShape Stream(int64_t elements, int64_t inputs) {
  return ir::Elementwise{.elements = elements,
                         .read = {inputs * elements * kFloatBytes},
                         .written = {elements * kFloatBytes},
                         .dtype = ir::DType::kFp32};
}

ir::KernelShape Zeros(int64_t elements) {
  return ir::Fill{.bytes = {elements * kFloatBytes}};
}

AuthorsShapes::AuthorsShapes(const AuthorsModel& model)
    : model_(model),
      tables_(std::ssize(model.table_rows)),
      features_(tables_ + 1),
      pairs_(features_ * (features_ - 1) / 2) {
  for (const auto* widths : {&model.bottom, &model.top}) {
    for (size_t i = 1; i < widths->size(); ++i) {
      layers_.push_back({.in = (*widths)[i - 1], .out = (*widths)[i]});
    }
  }
}

int64_t AuthorsShapes::IdBytes() const {
  return model_.batch * tables_ * model_.lookups * kIdBytes;
}
int64_t AuthorsShapes::OffsetBytes() const {
  return (model_.batch * tables_ + 1) * kIdBytes;
}
int64_t AuthorsShapes::DenseBytes() const {
  return model_.batch * model_.bottom.front() * kFloatBytes;
}
int64_t AuthorsShapes::TargetBytes() const {
  return model_.batch * kFloatBytes;
}
int64_t AuthorsShapes::TriangleIdBytes() const {
  return pairs_ * kTensorIdBytes;
}
int64_t AuthorsShapes::SquareBytes() const {
  return model_.batch * features_ * features_ * kFloatBytes;
}

ir::KernelShape AuthorsShapes::BiasCopy(const Layer& layer) const {
  const int64_t elements = model_.batch * layer.out;
  return ir::Elementwise{.elements = elements,
                         .read = {layer.out * kFloatBytes},
                         .written = {elements * kFloatBytes},
                         .dtype = ir::DType::kFp32};
}

ir::KernelShape AuthorsShapes::Forward(const Layer& layer) const {
  ir::Gemm gemm = Product(model_.batch, layer.out, layer.in);
  gemm.transpose_b = true;
  return gemm;
}

ir::KernelShape AuthorsShapes::DataGradient(const Layer& layer) const {
  return Product(model_.batch, layer.in, layer.out);
}

ir::KernelShape AuthorsShapes::WeightGradient(const Layer& layer) const {
  ir::Gemm gemm = Product(layer.out, layer.in, model_.batch);
  gemm.transpose_a = true;
  return gemm;
}

ir::KernelShape AuthorsShapes::BiasGradient(const Layer& layer) const {
  return ir::Reduction{.inputs = model_.batch * layer.out,
                       .outputs = layer.out,
                       .dtype = ir::DType::kFp32,
                       .strided = layer.out > 1};
}

ir::KernelShape AuthorsShapes::OnOutput(const Layer& layer,
                                        int64_t inputs) const {
  return PerSample(layer.out, inputs);
}

ir::KernelShape AuthorsShapes::PerSample(int64_t per_sample,
                                         int64_t inputs) const {
  return Stream(model_.batch * per_sample, inputs);
}

ir::KernelShape AuthorsShapes::LossSum() const {
  return ir::Reduction{
      .inputs = model_.batch, .outputs = 1, .dtype = ir::DType::kFp32};
}

std::vector<ir::KernelShape> AuthorsShapes::ParameterZeros() const {
  std::vector<ir::KernelShape> shapes;
  for (const Layer& layer : layers_) {
    shapes.push_back(Zeros(layer.in * layer.out));
    shapes.push_back(Zeros(layer.out));
  }
  return shapes;
}

std::vector<ir::KernelShape> AuthorsShapes::ParameterUpdates() const {
  std::vector<ir::KernelShape> shapes;
  for (const Layer& layer : layers_) {
    for (const int64_t elements : {layer.in * layer.out, layer.out}) {
      shapes.push_back(ir::OptimizerStep{.update = ir::Update::kSgd,
                                         .tensors = 1,
                                         .elements = elements,
                                         .dtype = ir::DType::kFp32});
    }
  }
  return shapes;
}

ir::KernelShape AuthorsShapes::Lookup(ir::Pass pass) const {
  const auto& rows = model_.table_rows;
  ir::EmbeddingBag bag{
      .tables = tables_,
      .rows = std::accumulate(rows.begin(), rows.end(), int64_t{0}),
      .dim = model_.dim,
      .batch = model_.batch,
      .lookups = model_.batch * tables_ * model_.lookups,
      .dtype = ir::DType::kFp32,
      .pass = pass,
      .update =
          pass == ir::Pass::kForward ? ir::Update::kNone : ir::Update::kSgd,
      .index_dtype = ir::DType::kInt32,
      .index_alpha = model_.index_alpha,
      .kernel = ir::BagKernel::kAtomic,
      .longest_bag = model_.lookups};
  if (std::ranges::count(rows, rows.front()) != std::ssize(rows)) {
    bag.table_rows = rows;
  }
  return bag;
}

ir::KernelShape AuthorsShapes::FeatureConcat() const {
  return ir::Concat{.tensors = features_,
                    .elements = model_.batch * features_ * model_.dim,
                    .dtype = ir::DType::kFp32};
}

ir::KernelShape AuthorsShapes::TopConcat() const {
  return ir::Concat{.tensors = 2,
                    .elements = model_.batch * (model_.dim + pairs_),
                    .dtype = ir::DType::kFp32};
}

ir::Gemm AuthorsShapes::Batched(int64_t m, int64_t n, int64_t k) const {
  ir::Gemm gemm = Product(m, n, k);
  gemm.batch = model_.batch;
  return gemm;
}

ir::KernelShape AuthorsShapes::Products() const {
  ir::Gemm gemm = Batched(features_, features_, model_.dim);
  gemm.transpose_b = true;
  return gemm;
}

std::vector<ir::KernelShape> AuthorsShapes::ProductGradients() const {
  ir::Gemm right = Batched(model_.dim, features_, features_);
  right.transpose_a = true;
  return {right, Batched(features_, model_.dim, features_)};
}

ir::KernelShape AuthorsShapes::Triangle(ir::Pass pass) const {
  const bool backward = pass != ir::Pass::kForward;
  return ir::Index{.elements = model_.batch * pairs_,
                   .source = model_.batch * features_ * features_,
                   .scatter = backward,
                   .accumulate = backward,
                   .slice = 1,
                   .dtype = ir::DType::kFp32};
}

ir::KernelShape AuthorsShapes::TriangleTranspose() const {
  return ir::Transpose{
      .elements = model_.batch * pairs_, .run = 1, .dtype = ir::DType::kFp32};
}

ir::KernelShape AuthorsShapes::OnTriangleIds() const {
  return ir::Elementwise{.elements = pairs_,
                         .read = {TriangleIdBytes()},
                         .written = {TriangleIdBytes()},
                         .dtype = ir::DType::kInt64};
}

ir::KernelShape AuthorsShapes::TriangleSort() const {
  return ir::Sort{.elements = pairs_, .dtype = ir::DType::kInt64};
}

// Both factors of the products are the same features; the gradient of the
// second comes transposed, but a block of threads has several of its short rows
// and so finds their neighbours in its cache.
ir::KernelShape AuthorsShapes::FeatureGradientSum() const {
  const int64_t elements = model_.batch * features_ * model_.dim;
  return ir::Elementwise{.elements = elements,
                         .read = {2 * elements * kFloatBytes},
                         .written = {elements * kFloatBytes},
                         .dtype = ir::DType::kFp32};
}

ir::KernelShape AuthorsShapes::DenseGradientSum() const {
  return PerSample(model_.dim, 2);
}

}  // namespace stepcast::measurements
