// NVIDIA's TensorFlow recommenders (DeepLearningExamples): DLRM and DCNv2 with
// joint tables, Wide & Deep and NCF with one gather per table.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "model/frameworks/exchange.h"
#include "model/frameworks/implementations.h"
#include "model/frameworks/tensorflow/tensorflow.h"
#include "model/shapes.h"
#include "model/tables/embedding_stats.h"
#include "model/tables/rank_plan.h"

namespace stepcast::model {
namespace {

// Horovod under TensorFlow: gradients fused into buffers and summed over the
// ranks, vectors of tables exchanged.

// Its copies and collectives are on one stream of its own.
class Horovod {
 public:
  /// `plan` is one of several ranks.
  Horovod(Tensorflow& tf, const RankPlan& plan, ir::StreamId stream)
      : tf_(tf), plan_(plan), stream_(stream) {}

  /// A gradient is there; a buffer that is full is summed.
  void Reduce(int64_t elements);
  /// The last buffer; what comes after waits for all sums.
  void Finish();

  /// All vectors of a rank's samples, `columns` wide, of those that each rank
  /// made for the samples of all; gradients go the other way.
  Tensor Exchange(const Tensor& made, int64_t columns);

 private:
  void SumBuffer();
  void Send(const ir::Collective& collective);

  Tensorflow& tf_;
  const RankPlan& plan_;
  ir::StreamId stream_;
  int64_t buffer_ = 0;   // Elements that wait to be summed.
  int64_t tensors_ = 0;  // Of the buffer.
};

// The default of HOROVOD_FUSION_THRESHOLD (docs/tensor-fusion). That Horovod
// also sums what is there once in every cycle of a millisecond is left out.
constexpr int64_t kBufferBytes = int64_t{128} * 1'048'576;

void Horovod::Reduce(int64_t elements) {
  const int64_t size = ir::SizeOf(tf_.options().types.parameter);
  if (tensors_ > 0 && (buffer_ + elements) * size > kBufferBytes) {
    SumBuffer();
  }
  buffer_ += elements;
  ++tensors_;
}

void Horovod::Finish() {
  if (tensors_ > 0) {
    SumBuffer();
  }
  tf_.step().WaitForStream(stream_);
}

// A buffer of one tensor needs no copies.
void Horovod::SumBuffer() {
  StepBuilder& step = tf_.step();
  const ir::DType dtype = tf_.options().types.parameter;
  const ir::Concat copies{.tensors = std::exchange(tensors_, 0),
                          .elements = std::exchange(buffer_, 0),
                          .dtype = dtype};
  const OpScope op(step, "tf::HorovodAllreduce");
  step.UseStream(stream_);
  step.WaitForStream(step.compute_stream());
  if (copies.tensors > 1) {
    step.Launch(copies);
  }
  step.Collect(
      Collect(ir::CollectiveKind::kAllReduce, plan_, copies.elements, dtype),
      stream_);
  if (copies.tensors > 1) {
    step.Launch(copies);
  }
  step.UseStream(step.compute_stream());
}

void Horovod::Send(const ir::Collective& collective) {
  const OpScope op(tf_.step(), "tf::HorovodAlltoall");
  tf_.step().Collect(collective, stream_);
  tf_.step().WaitForStream(stream_);
}

Tensor Horovod::Exchange(const Tensor& made, int64_t columns) {
  const Tensor all{.rows = made.rows / plan_.world,
                   .columns = columns,
                   .dtype = made.dtype,
                   .grad = tf_.options().train};
  const Portions portions = PortionsOf(plan_, &RankLoad::columns, all.rows,
                                       {.own = made.columns, .all = columns});
  // Into one tensor by rank, and what came in the order of the features.
  const ir::Concat sent{
      .tensors = plan_.world, .elements = made.elements(), .dtype = made.dtype};
  const ir::Concat received{.tensors = std::ssize(PartsOf(plan_, portions)),
                            .elements = all.elements(),
                            .dtype = made.dtype};
  if (made.columns > 0) {
    tf_.Op("tf::ConcatV2", sent);
  }
  Send(ToSamples(plan_, portions, made.dtype));
  tf_.Op("tf::ConcatV2", received);
  tf_.OnBackward([this, made, sent, received, portions] {
    tf_.Op("tf::ConcatV2", received);
    Send(ToTables(plan_, portions, made.dtype));
    if (made.columns > 0) {
      tf_.Op("tf::ConcatV2", sent);
    }
  });
  return all;
}

// NVIDIA pads the dense features of DLRM from 13 to 16
// (TensorFlow2/Recommendation/DLRM).
constexpr int64_t kDensePadding = 16;

// How often a loader by columns copies a byte of a batch, from the file's block
// that it decoded and shuffled to the tensor that the model reads. By hand,
// from how published inference steps of Wide & Deep grow with the batch in all
// their releases: no step was kept back to judge it.
constexpr int64_t kLoaderCopies = 6;

// How a model is written.
struct Style {
  bool xla = false;      // As TensorflowOptions.
  bool native = false;   // Likewise.
  bool columns = false;  // Likewise.
};

class TensorflowStep {
 public:
  TensorflowStep(const Request& request, const Style& style, StepBuilder& step)
      : model_(request.model),
        settings_(request.settings),
        plan_(request.plan),
        step_(step),
        tf_(step, {.types = TypesOf(request.settings.precision),
                   .train = request.settings.mode == Mode::kTrain,
                   .xla = style.xla,
                   .native = style.native,
                   .columns = style.columns,
                   .dense_optimizer = request.model.dense_optimizer,
                   .table_optimizer = request.model.table_optimizer}),
        owns_tables_(request.plan.world > 1 &&
                     request.model.kind == ModelKind::kDlrm),
        tables_(owns_tables_ ? request.plan.local : request.model.tables),
        lookups_{.batch = request.settings.batch *
                          (owns_tables_ ? request.plan.world : 1),
                 .dtype = tf_.options().types.parameter,
                 .kernel = ir::BagKernel::kPerTable},
        horovod_(tf_, request.plan,
                 request.plan.world > 1 ? step.AddStream(kCollectiveStream)
                                        : ir::StreamId{}) {
    lookups_.alpha =
        CommonAlpha(tables_, lookups_.batch, request.settings.seed);
  }

  void Run() {
    if (plan_.world > 1) {
      tf_.SetGradientHook(
          [this](int64_t elements) { horovod_.Reduce(elements); });
    }
    // The call of a tf.function, before its first op.
    step_.Op("tf::FunctionCall");
    LoadBatch();
    const Tensor logits = Predict();
    if (!tf_.options().train) {
      tf_.Op("tf::Sigmoid", Stream(logits.rows, 1, ir::DType::kFp32,
                                   ir::Arithmetic::kTranscendental));
      const OpScope op(step_, "tf::CopyToHost");
      step_.CopyToHost(logits.rows * ir::SizeOf(ir::DType::kFp32));
      return;
    }
    tf_.Loss(logits);
    tf_.Backward();
    if (plan_.world > 1) {
      horovod_.Finish();
    }
    tf_.Optimize();
  }

 private:
  int64_t batch() const { return settings_.batch; }

  // A loader that delivers one column after the other (NVTabular): the host
  // waits for each, but the step before may still run. Other models read arrays
  // that were copied while the step before was prepared.
  void LoadBatch() {
    if (tf_.options().columns) {
      return;  // Parsed by threads of its own, and where it is needed.
    }
    step_.UseStream(step_.AddStream(StepBuilder::kCopyStream));
    const int64_t dense = batch() * ir::SizeOf(ir::DType::kFp32);
    if (model_.kind == ModelKind::kWideDeep) {
      for (int64_t i = 0; i < model_.dense_features; ++i) {
        LoadColumn(dense);
      }
      for (const TableGroup& group : model_.tables) {
        TableGroup single = group;
        single.count = 1;
        for (int64_t i = 0; i < group.count; ++i) {
          LoadColumn(LookupsOf({&single, 1}, batch()) *
                     ir::SizeOf(ir::DType::kInt64));
        }
      }
    } else {
      const OpScope op(step_, "tf::CopyToDevice");
      step_.CopyToDevice(
          LookupsOf(tables_, lookups_.batch) * ir::SizeOf(ir::DType::kInt32) +
              dense * model_.dense_features,
          /*pinned=*/true, /*waits=*/false);
    }
    step_.UseStream(step_.compute_stream());
  }

  void LoadColumn(int64_t bytes) {
    const OpScope op(step_, "tf::LoadColumn");
    step_.CopyToDevice(kLoaderCopies * bytes, /*pinned=*/false,
                       /*waits=*/true);
  }

  Tensor Predict() {
    switch (model_.kind) {
      case ModelKind::kWideDeep:
        return WideDeep();
      case ModelKind::kNcf:
        return Ncf();
      case ModelKind::kDeepFm:
        return DeepFm();
      default:
        return Dlrm();
    }
  }

  // As the products want it.
  Tensor Activated(const Tensor& x) {
    const Types& types = tf_.options().types;
    if (ir::SizeOf(x.dtype) == ir::SizeOf(types.activation)) {
      return x;
    }
    tf_.Op("tf::Cast", Cast(x.elements(), x.dtype, types.activation));
    tf_.OnBackward([this, x] {
      tf_.Op("tf::Cast",
             Cast(x.elements(), tf_.options().types.activation, x.dtype));
    });
    Tensor cast = x;
    cast.dtype = types.activation;
    return cast;
  }

  Tensor DenseFeatures(int64_t columns) {
    return {.rows = batch(), .columns = columns, .dtype = ir::DType::kFp32};
  }

  Tensor Dlrm() {
    const Tensor dense =
        DenseFeatures(PaddedTo(model_.dense_features, kDensePadding));
    const Tensor bottom = tf_.Mlp(Activated(dense), model_.bottom_mlp,
                                  /*last_relu=*/true);
    const Tensor vectors = GatherForDlrm();
    const Tensor all = tf_.Concat(std::vector<Tensor>{bottom, vectors});
    Tensor x = all;
    if (model_.interaction.kind == InteractionKind::kDot) {
      const int64_t dense_vectors = bottom.columns > 0 ? 1 : 0;
      x = tf_.Interact(all, TableCount(model_) + dense_vectors,
                       PaddedTo(InteractionWidth(model_), kRowPadding));
    }
    for (int64_t i = 0; i < model_.interaction.cross_layers; ++i) {
      x = tf_.Cross(all, x, model_.interaction.cross_rank);
    }
    return tf_.Mlp(x, model_.top_mlp, /*last_relu=*/false);
  }

  Tensor GatherForDlrm() {
    if (owns_tables_) {
      return GatherOwned();
    }
    return Activated(tf_.options().columns
                         ? tf_.Concat(GatherAll(model_.tables))
                         : tf_.GatherJoint(model_.tables, lookups_));
  }

  // A rank's tables for the samples of all, those of one dim in one matrix; in
  // the products' type to where their samples are.
  Tensor GatherOwned() {
    std::vector<TableGroup> left = tables_;
    while (!left.empty()) {
      const int64_t dim = left.front().dim;
      const auto others = std::stable_partition(
          left.begin(), left.end(),
          [&](const TableGroup& group) { return group.dim == dim; });
      Activated(tf_.GatherJoint(std::span(left.begin(), others), lookups_));
      left.erase(left.begin(), others);
    }
    return horovod_.Exchange({.rows = lookups_.batch,
                              .columns = ColumnsOf(tables_),
                              .dtype = tf_.options().types.activation},
                             EmbeddingWidth(model_));
  }

  std::vector<Tensor> GatherAll(const std::vector<TableGroup>& tables) {
    std::vector<Tensor> vectors;
    for (const TableGroup& group : tables) {
      for (int64_t i = 0; i < group.count; ++i) {
        vectors.push_back(tf_.Gather(group, lookups_));
      }
    }
    return vectors;
  }

  // A linear model of one weight per row.
  Tensor Wide() {
    std::vector<TableGroup> weights = model_.tables;
    for (TableGroup& group : weights) {
      group.dim = 1;
    }
    return tf_.SumColumns(tf_.Concat(GatherAll(weights)));
  }

  // That, the square of the sum of vectors and the sum of their squares, and an
  // MLP over all vectors.
  Tensor DeepFm() {
    const Tensor wide = Wide();
    const Tensor all = tf_.Concat(GatherAll(model_.tables));
    const Tensor sum = tf_.SumColumns(all);
    tf_.Pointwise("tf::Square", sum, 1);
    tf_.SumColumns(tf_.Pointwise("tf::Square", all, 1));
    std::vector<Tensor> parts = {all};
    if (model_.dense_features > 0) {
      parts.push_back(DenseFeatures(model_.dense_features));
    }
    const Tensor deep = tf_.Mlp(Activated(tf_.Concat(parts)), model_.top_mlp,
                                /*last_relu=*/false, model_.dropout);
    CHECK(wide.columns == deep.columns);
    return tf_.Pointwise("tf::AddV2", deep, 3);
  }

  // The linear model, and an MLP over everything.
  Tensor WideDeep() {
    const Tensor wide = Wide();
    std::vector<Tensor> parts = GatherAll(model_.tables);
    parts.push_back(DenseFeatures(model_.dense_features));
    const Tensor deep = tf_.Mlp(Activated(tf_.Concat(parts)), model_.top_mlp,
                                /*last_relu=*/false, model_.dropout);
    CHECK(wide.columns == deep.columns);
    return tf_.Pointwise("tf::AddV2", deep, 2);
  }

  // Users and items twice: vectors to multiply, and vectors for the MLP, whose
  // last layer reads both results.
  Tensor Ncf() {
    std::vector<Tensor> vectors = GatherAll(model_.tables);
    CHECK(vectors.size() == 4);
    for (Tensor& vector : vectors) {
      vector = Activated(vector);
    }
    const Tensor product = tf_.Pointwise("tf::Mul", vectors[0], 2);
    std::vector<int64_t> hidden = model_.top_mlp;
    const int64_t last = hidden.back();
    hidden.pop_back();
    const Tensor deep =
        tf_.Mlp(tf_.Concat(std::vector<Tensor>{vectors[2], vectors[3]}), hidden,
                /*last_relu=*/true);
    return tf_.Dense(tf_.Concat(std::vector<Tensor>{product, deep}), last,
                     /*relu=*/false);
  }

  const Model& model_;
  const Settings& settings_;
  const RankPlan& plan_;
  StepBuilder& step_;
  Tensorflow tf_;
  bool owns_tables_ = false;               // One of several ranks does.
  const std::vector<TableGroup>& tables_;  // That this rank looks up.
  LookupOptions lookups_;
  Horovod horovod_;
};

Result<ir::Graph> BuildStyle(const Request& request, const Style& style) {
  const ModelKind kind = request.model.kind;
  if (kind != ModelKind::kDlrm && kind != ModelKind::kWideDeep &&
      kind != ModelKind::kNcf && kind != ModelKind::kDeepFm) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is a {} model, which is not run in TensorFlow "
                            "here; expected dlrm, wide_deep, deepfm or ncf",
                            request.model.name, Name(kind)));
  }
  StepBuilder step("model");
  TensorflowStep(request, style, step).Run();
  return std::move(step).Finish();
}

}  // namespace

Result<ir::Graph> BuildTensorflow(const Request& request) {
  return BuildStyle(request, {});
}

Result<ir::Graph> BuildTensorflowXla(const Request& request) {
  return BuildStyle(request, {.xla = true});
}

Result<ir::Graph> BuildTensorflowNative(const Request& request) {
  return BuildStyle(request, {.native = true});
}

Result<ir::Graph> BuildTensorflowColumns(const Request& request) {
  return BuildStyle(request, {.native = true, .columns = true});
}

}  // namespace stepcast::model
