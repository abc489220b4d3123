#include "model/frameworks/tensorflow/tensorflow.h"

#include <numeric>

namespace stepcast::model {
namespace {

// Passes over a tensor for dropout, in addition to making the random numbers:
// compare, scale, mask.
constexpr int kDropoutPasses = 3;

bool Halved(const Types& types) {
  return ir::SizeOf(types.activation) != ir::SizeOf(types.parameter);
}

}  // namespace

void Tensorflow::Op(std::string_view name, const ir::KernelShape& shape) {
  const OpScope op(step_, name);
  step_.Launch(shape);
}

// Mixed precision keeps FP32 weights and casts them for every product.
void Tensorflow::CastWeights(int64_t elements) {
  const Types& types = options_.types;
  if (types.cast) {
    Op("tf::Cast", Cast(elements, types.parameter, types.product));
  }
}

Tensor Tensorflow::Dense(const Tensor& x, int64_t out, bool relu,
                         double dropout) {
  const Types& types = options_.types;
  const int64_t elements = x.rows * out;
  parameters_.push_back(x.columns * out);
  parameters_.push_back(out);
  CastWeights(x.columns * out);
  Op("tf::MatMul", Forward(x.rows, x.columns, out, types.product));
  if (options_.xla) {
    // Bias, ReLU and mask in one pass.
    if (dropout > 0 && options_.train) {
      Op("tf::RandomUniform",
         ir::Random{.elements = elements, .dtype = ir::DType::kFp32});
    }
    Op("tf::XlaRun", Stream(elements, dropout > 0 && options_.train ? 2 : 1,
                            types.activation));
  } else {
    Op("tf::BiasAdd", Stream(elements, 1, types.activation));
    if (relu) {
      Op("tf::Relu", Stream(elements, 1, types.activation));
    }
    if (dropout > 0 && options_.train) {
      Op("tf::RandomUniform",
         ir::Random{.elements = elements, .dtype = types.activation});
      for (int i = 0; i < kDropoutPasses; ++i) {
        Op("tf::Mul", Stream(elements, 1, types.activation));
      }
    }
  }
  OnBackward(
      [this, x, out, relu, dropout] { DenseBackward(x, out, relu, dropout); });
  return {.rows = x.rows,
          .columns = out,
          .dtype = types.activation,
          .grad = options_.train};
}

void Tensorflow::DenseBackward(const Tensor& x, int64_t out, bool relu,
                               double dropout) {
  const Types& types = options_.types;
  const int64_t elements = x.rows * out;
  if (options_.xla) {
    Op("tf::XlaRun", Stream(elements, 2, types.activation));
  } else {
    if (dropout > 0) {
      Op("tf::Mul", Stream(elements, 2, types.activation));
      Op("tf::Mul", Stream(elements, 1, types.activation));
    }
    if (relu) {
      Op("tf::ReluGrad", Stream(elements, 2, types.activation));
    }
  }
  Op("tf::BiasAddGrad", ColumnSum(x.rows, out, types.activation));
  if (x.grad) {
    Op("tf::MatMul", DataGradient(x.rows, x.columns, out, types.product));
  }
  Op("tf::MatMul", WeightGradient(x.rows, x.columns, out, types.product));
  if (types.cast) {
    Op("tf::Cast", Cast(x.columns * out, types.product, types.parameter));
  }
  GradientReady(out);
  GradientReady(x.columns * out);
}

void Tensorflow::GradientReady(int64_t elements) {
  if (gradient_hook_) {
    gradient_hook_(elements);
  }
}

Tensor Tensorflow::Mlp(Tensor x, std::span<const int64_t> widths,
                       bool last_relu, double dropout) {
  for (size_t i = 0; i < widths.size(); ++i) {
    const bool hidden = i + 1 < widths.size();
    x = Dense(x, widths[i], hidden || last_relu, hidden ? dropout : 0);
  }
  return x;
}

Tensor Tensorflow::Concat(std::span<const Tensor> parts) {
  Tensor all = parts.front();
  all.columns = 0;
  for (const Tensor& part : parts) {
    all.columns += part.columns;
    all.grad = all.grad || part.grad;
  }
  const ir::Concat concat{.tensors = std::ssize(parts),
                          .elements = all.elements(),
                          .dtype = all.dtype};
  Op("tf::ConcatV2", concat);
  OnBackward([this, concat] {
    // A slice for each part.
    Op("tf::Slice", concat);
  });
  return all;
}

// tf.feature_column: some twenty small ops (fill empty rows, where, reshape,
// ...) counted as one, the hash of every string, and distinct ids, so that a
// row is looked up once.
void Tensorflow::HashColumn(int64_t ids) {
  step_.Op("tf::FeatureColumn");
  for (const char* const op : {"tf::StringToHashBucketFast", "tf::Unique"}) {
    Op(op, ir::Sort{.kind = ir::SortKind::kUnique,
                    .elements = ids,
                    .dtype = ir::DType::kInt64});
  }
}

Tensor Tensorflow::Gather(const TableGroup& table,
                          const LookupOptions& options) {
  TableGroup single = table;
  single.count = 1;
  LookupOptions how = options;
  how.kernel = ir::BagKernel::kPerTable;
  ir::EmbeddingBag bag = Lookup({&single, 1}, how);
  bag.pooled = false;
  bag.longest_bag = 0;
  if (options_.columns) {
    HashColumn(bag.lookups);
  }
  Op("tf::ResourceGather", bag);
  const Tensor vectors{.rows = options.batch,
                       .columns = table.dim,
                       .dtype = options.dtype,
                       .grad = options_.train};
  const bool pooled = bag.lookups > options.batch;
  if (gradient_hook_) {
    parameters_.push_back(table.rows * table.dim);
  }
  if (pooled) {
    Op("tf::Mean", ir::Reduction{.inputs = bag.lookups * table.dim,
                                 .outputs = vectors.elements(),
                                 .dtype = options.dtype});
  }
  OnBackward([this, bag, vectors, pooled, rows = table.rows] {
    if (pooled) {
      Op("tf::Tile", Stream(bag.lookups * bag.dim, 1, vectors.dtype));
    }
    if (gradient_hook_) {
      SumTableGradient(bag, rows * bag.dim);
    } else {
      UpdateTable(bag, rows * bag.dim);
    }
  });
  return vectors;
}

Tensor Tensorflow::GatherJoint(std::span<const TableGroup> tables,
                               const LookupOptions& options) {
  ir::EmbeddingBag bag = Lookup(tables, options);
  bag.pooled = false;
  bag.longest_bag = 0;
  // Where each table begins is added to its ids.
  Op("tf::AddV2", Stream(bag.lookups, 1, options.index_dtype));
  Op("tf::ResourceGather", bag);
  OnBackward([this, bag] { UpdateTable(bag, bag.rows * bag.dim); });
  return {.rows = options.batch,
          .columns = bag.tables * bag.dim,
          .dtype = options.dtype,
          .grad = options_.train};
}

// sparse_as_dense: a gradient of all rows, most of them 0.
void Tensorflow::SumTableGradient(const ir::EmbeddingBag& bag,
                                  int64_t table_elements) {
  Op("tf::ZerosLike", Zeros(table_elements, bag.dtype));
  Op("tf::UnsortedSegmentSum", ir::Index{.elements = bag.lookups * bag.dim,
                                         .source = table_elements,
                                         .scatter = true,
                                         .accumulate = true,
                                         .slice = bag.dim,
                                         .dtype = bag.dtype});
  GradientReady(table_elements);
}

// Gradients of rows that repeat are summed before an optimizer with state sees
// them; plain SGD adds them one by one.
void Tensorflow::UpdateTable(const ir::EmbeddingBag& bag,
                             int64_t table_elements) {
  if (options_.table_optimizer == Optimizer::kSgd) {
    Op("tf::ResourceScatterAdd", ir::Index{.elements = bag.lookups * bag.dim,
                                           .source = table_elements,
                                           .scatter = true,
                                           .accumulate = true,
                                           .slice = bag.dim,
                                           .dtype = bag.dtype});
    return;
  }
  Op("tf::Unique", ir::Sort{.kind = ir::SortKind::kUnique,
                            .elements = bag.lookups,
                            .dtype = ir::DType::kInt64});
  Op("tf::UnsortedSegmentSum", ir::Index{.elements = bag.lookups * bag.dim,
                                         .source = bag.lookups * bag.dim,
                                         .scatter = true,
                                         .accumulate = true,
                                         .slice = bag.dim,
                                         .dtype = bag.dtype});
  ir::EmbeddingBag update = bag;
  update.pass = ir::Pass::kBackward;
  update.update = UpdateOf(options_.table_optimizer);
  update.kernel = ir::BagKernel::kAtomic;
  Op("tf::ResourceSparseApply", update);
}

Tensor Tensorflow::Interact(const Tensor& x, int64_t vectors, int64_t width) {
  const ir::Interaction dot{.batch = x.rows,
                            .features = vectors,
                            .dim = x.columns / vectors,
                            .dtype = options_.types.product};
  if (options_.native) {
    InteractNatively(dot);
  } else {
    Op("tf::DotBasedInteract", dot);
    OnBackward([this, dot] {
      ir::Interaction backward = dot;
      backward.pass = ir::Pass::kBackward;
      Op("tf::DotBasedInteractGrad", backward);
    });
  }
  return {.rows = x.rows, .columns = width, .dtype = x.dtype, .grad = x.grad};
}

// All products, of which tf.boolean_mask keeps the triangle: the mask is as
// large as the products, and where it holds is written down as indices.
void Tensorflow::InteractNatively(const ir::Interaction& dot) {
  const int64_t products = dot.batch * dot.features * dot.features;
  const int64_t pairs = dot.batch * dot.features * (dot.features - 1) / 2;
  const ir::Gemm all{.batch = dot.batch,
                     .m = dot.features,
                     .n = dot.features,
                     .k = dot.dim,
                     .transpose_b = true,
                     .dtype = dot.dtype};
  Op("tf::BatchMatMulV2", all);
  Op("tf::MatrixBandPart", Stream(products, 1, dot.dtype));
  const ir::Index triangle{
      .elements = pairs, .source = products, .slice = 1, .dtype = dot.dtype};
  ir::Index where = triangle;
  where.elements = products;
  where.dtype = ir::DType::kInt64;
  Op("tf::Where", where);
  Op("tf::GatherV2", triangle);
  Op("tf::ConcatV2", ir::Concat{.tensors = 2,
                                .elements = pairs + dot.batch * dot.dim,
                                .dtype = dot.dtype});
  OnBackward([this, dot, triangle, all] {
    ir::Index scatter = triangle;
    scatter.scatter = true;
    scatter.accumulate = true;
    Op("tf::UnsortedSegmentSum", scatter);
    ir::Gemm gradient = all;
    gradient.n = dot.dim;
    gradient.k = dot.features;
    gradient.transpose_b = false;
    for (int i = 0; i < 2; ++i) {
      Op("tf::BatchMatMulV2", gradient);
    }
    Op("tf::AddN", Stream(dot.batch * dot.features * dot.dim, 2, dot.dtype));
  });
}

Tensor Tensorflow::Cross(const Tensor& x0, const Tensor& x, int64_t rank) {
  const Tensor low = Dense(x, rank, /*relu=*/false);
  const Tensor wide = Dense(low, x.columns, /*relu=*/false);
  Pointwise("tf::Mul", wide, 2);
  if (!options_.xla) {
    Pointwise("tf::AddV2", x0, 2);
  }
  return x0;
}

Tensor Tensorflow::Pointwise(std::string_view op, const Tensor& x,
                             int64_t inputs) {
  Op(op, Stream(x.elements(), inputs, x.dtype));
  OnBackward([this, x, inputs] {
    for (int64_t i = 0; i < inputs; ++i) {
      Op("tf::Mul", Stream(x.elements(), inputs, x.dtype));
    }
  });
  return x;
}

Tensor Tensorflow::SumColumns(const Tensor& x) {
  Op("tf::Sum",
     ir::Reduction{
         .inputs = x.elements(), .outputs = x.rows, .dtype = x.dtype});
  OnBackward([this, x] { Op("tf::Tile", Stream(x.elements(), 1, x.dtype)); });
  return {.rows = x.rows, .columns = 1, .dtype = x.dtype, .grad = x.grad};
}

void Tensorflow::Loss(const Tensor& logits) {
  const int64_t rows = logits.rows;
  if (Halved(options_.types)) {
    Op("tf::Cast", Cast(rows, logits.dtype, ir::DType::kFp32));
  }
  Op("tf::LogisticLoss",
     Stream(rows, 2, ir::DType::kFp32, ir::Arithmetic::kTranscendental));
  Op("tf::Mean", Sum(rows, ir::DType::kFp32));
  OnBackward([this, rows] {
    Op("tf::LogisticLossGrad",
       Stream(rows, 2, ir::DType::kFp32, ir::Arithmetic::kTranscendental));
  });
}

void Tensorflow::Backward() {
  step_.SetPhase(ir::Phase::kBackward);
  for (size_t i = tape_.size(); i-- > 0;) {
    tape_[i]();
  }
  tape_.clear();
}

void Tensorflow::Optimize() {
  step_.SetPhase(ir::Phase::kOptimizer);
  for (const int64_t elements : parameters_) {
    Op("tf::ResourceApply",
       ir::OptimizerStep{.update = UpdateOf(options_.dense_optimizer),
                         .tensors = 1,
                         .elements = elements,
                         .dtype = options_.types.parameter});
  }
}

int64_t Tensorflow::parameter_elements() const {
  return std::accumulate(parameters_.begin(), parameters_.end(), int64_t{0});
}

}  // namespace stepcast::model
