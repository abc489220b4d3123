#include "learn/measured/authors_kernels.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace stepcast::learn {

double SmallestKernelUs(std::span<const TracedKernels> kernels) {
  constexpr int64_t kFewElements = 1024;
  std::vector<double> times;
  for (const TracedKernels& traced : kernels) {
    const auto* const op =
        traced.shapes.size() == 1
            ? std::get_if<ir::Elementwise>(&traced.shapes.front())
            : nullptr;
    if (op != nullptr && op->elements <= kFewElements) {
      times.push_back(traced.time_us);
    }
  }
  if (times.empty()) {
    return 0;
  }
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

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

namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

size_t CountOf(const AuthorsRow& row) {
  return static_cast<size_t>(std::max<int64_t>(row.kernel_count, 1));
}

// Follows one iteration after another, op by op.
class Walk {
 public:
  explicit Walk(const AuthorsModel& model) : shapes_(model) {}

  // The kernels of one op: rows of one op instance.
  Status Add(std::span<const AuthorsRow> rows);
  std::vector<TracedKernels> Take() { return std::move(kernels_); }

 private:
  struct Handler {
    std::string_view op;
    void (Walk::*handle)() = nullptr;
  };
  static const Handler kHandlers[];

  void Emit(std::vector<ir::KernelShape> shapes, double time_us) {
    kernels_.push_back({.iteration = iteration_,
                        .op = rows_.front().op,
                        .shapes = std::move(shapes),
                        .time_us = time_us});
  }
  // All rows are these kernels.
  void EmitOp(std::vector<ir::KernelShape> shapes) {
    double time_us = 0;
    for (const AuthorsRow& row : rows_) {
      time_us += row.time_us;
    }
    Emit(std::move(shapes), time_us);
  }
  void EmitRow(const AuthorsRow& row, const ir::KernelShape& shape) {
    Emit(std::vector<ir::KernelShape>(CountOf(row), shape), row.time_us);
  }
  void EmitCopy(const AuthorsRow& row, int64_t bytes) {
    ir::CopyKind kind = ir::CopyKind::kHostToDevice;
    kind = Contains(row.kernel, "DtoH") ? ir::CopyKind::kDeviceToHost : kind;
    kind = Contains(row.kernel, "DtoD") ? ir::CopyKind::kDeviceToDevice : kind;
    EmitRow(row, ir::Copy{.kind = kind,
                          .bytes = {bytes},
                          .pinned = Contains(row.kernel, "Pinned")});
  }
  Layer LayerAt(size_t position) {
    too_many_layers_ = too_many_layers_ || position >= shapes_.layers().size();
    return too_many_layers_ ? Layer() : shapes_.layers()[position];
  }

  void To();
  void Linear();
  void LinearBackward();
  void Relu() { EmitOp({shapes_.OnOutput(LayerAt(linear_ - 1), 1)}); }
  void ReluBackward() { EmitOp({shapes_.OnOutput(LayerAt(backward_ - 1), 2)}); }
  void Sigmoid() { EmitOp({shapes_.PerSample(1, 1)}); }
  void SigmoidBackward() { EmitOp({shapes_.PerSample(1, 2)}); }
  void BiasGradient();
  void Accumulate();
  void Lookup() { EmitOp({shapes_.Lookup(ir::Pass::kForward)}); }
  void LookupBackward() { EmitOp({shapes_.Lookup(ir::Pass::kBackward)}); }
  // First the features for the products, then what the top layers get.
  void Concat() {
    EmitOp({concats_++ == 0 ? shapes_.FeatureConcat() : shapes_.TopConcat()});
  }
  void Products() { EmitOp({shapes_.Products()}); }
  void ProductGradients() { EmitOp(shapes_.ProductGradients()); }
  void Triangle();
  void TriangleBackward();
  void SliceBackward();
  void SumGradients() {
    EmitOp({sums_++ == 0 ? shapes_.FeatureGradientSum()
                         : shapes_.DenseGradientSum()});
  }
  void Loss();
  void LossBackward();
  void OnesLike() { EmitOp({Zeros(1)}); }
  void ZeroGradients() { EmitOp(shapes_.ParameterZeros()); }
  void SgdStep() { EmitOp(shapes_.ParameterUpdates()); }

  AuthorsShapes shapes_;
  std::span<const AuthorsRow> rows_;
  int64_t iteration_ = -1;
  size_t linear_ = 0;    // The next layer forward.
  size_t backward_ = 0;  // The last layer that went backward.
  size_t copies_ = 0;
  size_t concats_ = 0;
  size_t sums_ = 0;
  size_t accumulated_ = 0;  // Parameters of that layer.
  bool too_many_layers_ = false;
  std::vector<TracedKernels> kernels_;
};

const Walk::Handler Walk::kHandlers[] = {
    {"aten::to", &Walk::To},
    {"aten::linear", &Walk::Linear},
    {"aten::relu", &Walk::Relu},
    {"aten::sigmoid", &Walk::Sigmoid},
    {"LookupFunction", &Walk::Lookup},
    {"aten::cat", &Walk::Concat},
    {"aten::bmm", &Walk::Products},
    {"aten::index", &Walk::Triangle},
    {"aten::mse_loss", &Walk::Loss},
    {"aten::binary_cross_entropy", &Walk::Loss},
    {"Optimizer.zero_grad#SGD.zero_grad", &Walk::ZeroGradients},
    {"aten::ones_like", &Walk::OnesLike},
    {"MseLossBackward", &Walk::LossBackward},
    {"BinaryCrossEntropyBackward", &Walk::LossBackward},
    {"SigmoidBackward", &Walk::SigmoidBackward},
    {"AddmmBackward", &Walk::LinearBackward},
    {"aten::sum", &Walk::BiasGradient},
    {"torch::autograd::AccumulateGrad", &Walk::Accumulate},
    {"ReluBackward0", &Walk::ReluBackward},
    {"IndexBackward", &Walk::TriangleBackward},
    {"SliceBackward", &Walk::SliceBackward},
    {"BmmBackward0", &Walk::ProductGradients},
    {"aten::add", &Walk::SumGradients},
    {"LookupFunctionBackward", &Walk::LookupBackward},
    {"Optimizer.step#SGD.step", &Walk::SgdStep},
};

Status Walk::Add(std::span<const AuthorsRow> rows) {
  rows_ = rows;
  if (rows.front().iteration != iteration_) {
    iteration_ = rows.front().iteration;
    linear_ = copies_ = concats_ = sums_ = accumulated_ = 0;
    backward_ = shapes_.layers().size();
  }
  const std::string_view op = rows.front().op;
  const auto* const found = std::ranges::find(kHandlers, op, &Handler::op);
  if (found == std::end(kHandlers)) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("op '{}' is none of DLRM's", op));
  }
  (this->*found->handle)();
  if (too_many_layers_) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("iteration {} has more layers than the model", iteration_));
  }
  return {};
}

// Ids, offsets and dense features; the triangle's positions; the target.
void Walk::To() {
  const std::array<int64_t, 3> batch = {
      shapes_.IdBytes(), shapes_.OffsetBytes(), shapes_.DenseBytes()};
  for (const AuthorsRow& row : rows_) {
    if (Contains(row.kernel, "DtoH")) {
      EmitCopy(row, 4);  // The loss.
    } else if (Contains(row.path, "interaction")) {
      EmitCopy(row, shapes_.TriangleIdBytes());
    } else if (Contains(row.path, "loss")) {
      EmitCopy(row, shapes_.TargetBytes());
    } else {
      EmitCopy(row, batch[std::min<size_t>(copies_++, batch.size() - 1)]);
    }
  }
}

// The bias is copied to every row, then the product is added.
void Walk::Linear() {
  const Layer layer = LayerAt(linear_++);
  double product_us = 0;
  for (const AuthorsRow& row : rows_) {
    if (Contains(row.kernel, "elementwise")) {
      EmitRow(row, shapes_.BiasCopy(layer));
    } else {
      product_us += row.time_us;
    }
  }
  Emit({shapes_.Forward(layer)}, product_us);
}

// Gradients of the data, but for the first layer, and of the weights. Sums of
// split products and the clearing of their counters belong to them.
void Walk::LinearBackward() {
  const Layer layer = LayerAt(--backward_);
  accumulated_ = 0;
  std::vector<ir::KernelShape> shapes;
  if (backward_ > 0) {
    shapes.push_back(shapes_.DataGradient(layer));
  }
  shapes.push_back(shapes_.WeightGradient(layer));
  EmitOp(std::move(shapes));
}

// The memset before it, which clears its counters, is not a kernel.
void Walk::BiasGradient() {
  for (const AuthorsRow& row : rows_) {
    if (!Contains(row.kernel, "Memset")) {
      EmitRow(row, shapes_.BiasGradient(LayerAt(backward_)));
    }
  }
}

// First the bias, then the weights.
void Walk::Accumulate() {
  const Layer layer = LayerAt(backward_);
  const bool bias = accumulated_++ == 0;
  EmitOp({Stream(bias ? layer.out : layer.in * layer.out, 2)});
}

void Walk::Triangle() {
  for (const AuthorsRow& row : rows_) {
    if (Contains(row.kernel, "Memcpy")) {
      EmitCopy(row, shapes_.TriangleIdBytes());
    } else {
      EmitRow(row, shapes_.Triangle(ir::Pass::kForward));
    }
  }
}

// index_put with accumulation: zeros, arithmetic on the ids, a sort of them,
// the gradient with the samples innermost, and the scatter itself.
void Walk::TriangleBackward() {
  bool zeroed = false;
  for (const AuthorsRow& row : rows_) {
    if (Contains(row.kernel, "Memcpy")) {
      EmitCopy(row, shapes_.TriangleIdBytes());
    } else if (Contains(row.kernel, "indexing_backward")) {
      EmitRow(row, shapes_.Triangle(ir::Pass::kBackward));
    } else if (Contains(row.kernel, "unrolled_elementwise")) {
      EmitRow(row, shapes_.TriangleTranspose());
    } else if (!Contains(row.kernel, "elementwise")) {
      EmitRow(row, shapes_.TriangleSort());
    } else {
      std::vector<ir::KernelShape> shapes(CountOf(row),
                                          shapes_.OnTriangleIds());
      if (!zeroed) {
        shapes.front() = ir::Fill{.bytes = {shapes_.SquareBytes()}};
        zeroed = true;
      }
      Emit(std::move(shapes), row.time_us);
    }
  }
}

void Walk::SliceBackward() {
  for (const AuthorsRow& row : rows_) {
    if (Contains(row.kernel, "Memcpy")) {
      EmitCopy(row, shapes_.SquareBytes());
    } else {
      EmitRow(row, ir::Fill{.bytes = {shapes_.SquareBytes()}});
    }
  }
}

void Walk::Loss() {
  for (const AuthorsRow& row : rows_) {
    if (Contains(row.kernel, "Memcpy")) {
      EmitCopy(row, 4);
    } else {
      EmitRow(row, Contains(row.kernel, "reduce") ? shapes_.LossSum()
                                                  : shapes_.PerSample(1, 2));
    }
  }
}

void Walk::LossBackward() {
  for (const AuthorsRow& row : rows_) {
    EmitRow(row, shapes_.PerSample(1, 2));
  }
}

}  // namespace

Result<std::vector<TracedKernels>> KernelsOf(std::span<const AuthorsRow> rows,
                                             const AuthorsModel& model) {
  Walk walk(model);
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() &&
           rows[end].op_instance == rows[begin].op_instance &&
           rows[end].iteration == rows[begin].iteration) {
      ++end;
    }
    RETURN_IF_ERROR(walk.Add(rows.subspan(begin, end - begin)));
    begin = end;
  }
  return walk.Take();
}

}  // namespace stepcast::learn
