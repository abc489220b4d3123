// Eager PyTorch as facebookresearch/dlrm runs it: batches copied and waited
// for, every op on its own, the loss read by the host in every step.
#include <vector>

#include "base/check.h"
#include "model/frameworks/embeddings.h"
#include "model/frameworks/exchange.h"
#include "model/frameworks/implementations.h"
#include "model/frameworks/torch/torch.h"
#include "model/model.h"
#include "model/networks/interaction.h"
#include "model/networks/networks.h"
#include "model/tables/embedding_stats.h"
#include "model/tables/rank_plan.h"

namespace stepcast::model {
namespace {

// What recommendation models compute from a batch, in eager PyTorch.

Tensor Dlrm(Torch& torch, const Model& model, const Tensor& dense,
            LookupStyle style, const LookupOptions& options) {
  torch.Label();
  const Tensor bottom = torch.Mlp(dense, model.bottom_mlp, /*last_relu=*/true);
  torch.Label();
  if (torch.before_2022() && style == LookupStyle::kBatched) {
    torch.step().Op("aten::to");
    torch.step().Op("aten::to");
  }
  const std::vector<Tensor> vectors = LookUp(torch, model, style, options);
  torch.Label();
  const Tensor rendezvous = Interact(torch, model, bottom, vectors);
  torch.Label();
  return torch.Mlp(rendezvous, model.top_mlp, /*last_relu=*/false,
                   model.dropout);
}

// Embeddings and dense features side by side, through the MLP.
Tensor Deep(Torch& torch, const Model& model, const Tensor& dense,
            const std::vector<Tensor>& vectors) {
  std::vector<Tensor> parts = vectors;
  if (dense.columns > 0) {
    parts.push_back(dense);
  }
  const Tensor x = parts.size() > 1 ? torch.Cat(parts) : parts.front();
  return torch.Mlp(x, model.top_mlp, /*last_relu=*/false, model.dropout);
}

// One weight per row instead of a vector: a linear model of the ids.
Tensor Wide(Torch& torch, const Model& model, LookupStyle style,
            const LookupOptions& options) {
  Model weights = model;
  for (TableGroup& group : weights.tables) {
    group.dim = 1;
  }
  const std::vector<Tensor> parts = LookUp(torch, weights, style, options);
  const Tensor all = parts.size() > 1 ? torch.Cat(parts) : parts.front();
  return torch.SumColumns(all, 1);
}

Tensor WideDeep(Torch& torch, const Model& model, const Tensor& dense,
                LookupStyle style, const LookupOptions& options) {
  const Tensor wide = Wide(torch, model, style, options);
  const Tensor deep =
      Deep(torch, model, dense, LookUp(torch, model, style, options));
  return torch.Add(deep, wide);
}

// Half of (sum of the vectors)^2 - sum of their squares, plus an MLP.
Tensor DeepFm(Torch& torch, const Model& model, const Tensor& dense,
              LookupStyle style, const LookupOptions& options) {
  const Tensor wide = Wide(torch, model, style, options);
  const std::vector<Tensor> vectors = LookUp(torch, model, style, options);
  const Tensor all = vectors.size() > 1 ? torch.Cat(vectors) : vectors.front();
  const int64_t dim = model.tables.front().dim;
  const Tensor sum = torch.SumColumns(all, dim);
  const Tensor square_of_sum = torch.Mul(sum, sum);
  const Tensor sum_of_squares = torch.SumColumns(torch.Mul(all, all), dim);
  const Tensor pairs =
      torch.SumColumns(torch.Add(square_of_sum, sum_of_squares), 1);
  const Tensor deep = Deep(torch, model, dense, {all});
  return torch.Add(torch.Add(deep, pairs), wide);
}

// Users and items twice: vectors to multiply, and vectors for the MLP, whose
// last layer reads both results.
Tensor Ncf(Torch& torch, const Model& model, LookupStyle style,
           const LookupOptions& options) {
  CHECK(style != LookupStyle::kBatched);
  LookupOptions single = options;
  single.kernel = ir::BagKernel::kPerTable;
  const std::vector<Tensor> vectors = LookUp(torch, model, style, single);
  CHECK(vectors.size() == 4);
  const Tensor product = torch.Mul(vectors[0], vectors[1]);
  std::vector<int64_t> hidden = model.top_mlp;
  const int64_t last = hidden.back();
  hidden.pop_back();
  const Tensor both = torch.Cat(std::vector<Tensor>{vectors[2], vectors[3]});
  const Tensor deep = torch.Mlp(both, hidden, /*last_relu=*/true);
  return torch.Linear(torch.Cat(std::vector<Tensor>{product, deep}), last);
}

Tensor Recommend(Torch& torch, const Model& model, const Tensor& dense,
                 LookupStyle style, const LookupOptions& options) {
  switch (model.kind) {
    case ModelKind::kWideDeep:
      return WideDeep(torch, model, dense, style, options);
    case ModelKind::kDeepFm:
      return DeepFm(torch, model, dense, style, options);
    case ModelKind::kNcf:
      return Ncf(torch, model, style, options);
    default:
      return Dlrm(torch, model, dense, style, options);
  }
}

// A rank of facebookresearch/dlrm: its tables for the samples of all, vectors
// exchanged while the bottom MLP runs, and a DDP around each MLP.

class DlrmRank {
 public:
  /// `bucket_mib` as in Settings.
  DlrmRank(Torch& torch, const Model& model, const RankPlan& plan,
           ir::StreamId stream, int64_t bucket_mib);

  /// The logits of this rank's samples. `lookups` are those of all samples.
  Tensor Predict(const Tensor& dense, LookupStyle style,
                 const LookupOptions& lookups);

 private:
  // Vectors of this rank's tables to where their samples are.
  void Send(const std::vector<Tensor>& vectors);
  Tensor Receive();

  Torch& torch_;
  const Model& model_;
  const RankPlan& plan_;
  ir::StreamId stream_;
  int64_t batch_ = 0;  // Of this rank.
  Ddp bottom_;
  Ddp top_;
};

Portions VectorPortions(const Model& model, const RankPlan& plan,
                        int64_t batch) {
  return PortionsOf(
      plan, &RankLoad::columns, batch,
      {.own = ColumnsOf(plan.local), .all = EmbeddingWidth(model)});
}

DlrmRank::DlrmRank(Torch& torch, const Model& model, const RankPlan& plan,
                   ir::StreamId stream, int64_t bucket_mib)
    : torch_(torch),
      model_(model),
      plan_(plan),
      stream_(stream),
      bottom_(torch, plan, stream, SummedGradients::kCopies, bucket_mib),
      top_(torch, plan, stream, SummedGradients::kCopies, bucket_mib) {}

Tensor DlrmRank::Predict(const Tensor& dense, LookupStyle style,
                         const LookupOptions& lookups) {
  batch_ = dense.rows;
  Model owned = model_;
  owned.tables = plan_.local;
  // After all other nodes.
  torch_.OnBackward([this] {
    bottom_.Finish();
    top_.Finish();
  });
  std::vector<Tensor> vectors;
  torch_.Label();
  if (!plan_.local.empty()) {
    vectors = LookUp(torch_, owned, style, lookups);
  }
  Send(vectors);
  torch_.Label();
  const Tensor bottom =
      torch_.Mlp(dense, model_.bottom_mlp, /*last_relu=*/true);
  const int64_t below = torch_.parameter_count();
  bottom_.SetParameters(below);
  torch_.OnBackward([this] {
    torch_.SetGradientHook(
        [this](int64_t elements) { bottom_.Reduce(elements); });
  });
  const Tensor received = Receive();
  torch_.Label();
  const Tensor rendezvous = Interact(torch_, model_, bottom, {&received, 1});
  torch_.Label();
  const Tensor logits = torch_.Mlp(rendezvous, model_.top_mlp,
                                   /*last_relu=*/false, model_.dropout);
  top_.SetParameters(torch_.parameter_count() - below);
  torch_.SetGradientHook([this](int64_t elements) { top_.Reduce(elements); });
  return logits;
}

void DlrmRank::Send(const std::vector<Tensor>& vectors) {
  StepBuilder& step = torch_.step();
  const ir::DType dtype = torch_.options().types.parameter;
  const int64_t made = batch_ * plan_.world * ColumnsOf(plan_.local);
  {
    const OpScope op(step, "All2All_Req");
    if (vectors.size() > 1) {
      step.Launch(ir::Concat{
          .tensors = std::ssize(vectors), .elements = made, .dtype = dtype});
    }
    step.Collect(ToSamples(plan_, VectorPortions(model_, plan_, batch_), dtype),
                 stream_);
  }
  torch_.OnBackward([this] {
    const NodeScope node(torch_, "All2All_ReqBackward");
    torch_.step().WaitForStream(stream_);
  });
}

Tensor DlrmRank::Receive() {
  StepBuilder& step = torch_.step();
  const Tensor all{.rows = batch_,
                   .columns = EmbeddingWidth(model_),
                   .dtype = torch_.options().types.parameter,
                   .grad = torch_.options().train};
  {
    const OpScope op(step, "All2All_Wait");
    step.WaitForStream(stream_);
  }
  torch_.OnBackward([this, all] {
    const NodeScope node(torch_, "All2All_WaitBackward");
    const Portions portions = VectorPortions(model_, plan_, batch_);
    torch_.step().Launch(
        ir::Concat{.tensors = std::ssize(PartsOf(plan_, portions)),
                   .elements = all.elements(),
                   .dtype = all.dtype});
    torch_.step().Collect(ToTables(plan_, portions, all.dtype), stream_);
  });
  return all;
}

TorchOptions EagerOptions(const Request& request) {
  return {.release = request.settings.torch.value_or(TorchRelease::kTorch111),
          .types = TypesOf(request.settings.precision),
          .train = request.settings.mode == Mode::kTrain,
          .optimizer = request.model.dense_optimizer,
          .form = request.model.optimizer_form};
}

// DLRM's ranks have tables of their own; other models are whole on each, and
// DDP sums gradients of all rows only.
bool OwnsTables(const Request& request) {
  return request.plan.world > 1 && request.model.kind == ModelKind::kDlrm;
}

// NCF's tables are nn.Embedding with gradients of all rows, which its fused
// Adam wants on one GPU as on several.
LookupStyle StyleOf(const Request& request, LookupStyle style) {
  const bool whole = request.plan.world > 1 && !OwnsTables(request);
  return whole || request.model.kind == ModelKind::kNcf ? LookupStyle::kDense
                                                        : style;
}

class EagerRecommender {
 public:
  EagerRecommender(const Request& request, LookupStyle style, StepBuilder& step)
      : model_(request.model),
        settings_(request.settings),
        plan_(request.plan),
        style_(StyleOf(request, style)),
        step_(step),
        torch_(step, EagerOptions(request)),
        collective_(request.plan.world > 1 ? step.AddStream(kCollectiveStream)
                                           : ir::StreamId{}),
        owns_tables_(OwnsTables(request)),
        tables_(owns_tables_ ? request.plan.local : request.model.tables),
        lookups_{.batch = request.settings.batch *
                          (owns_tables_ ? request.plan.world : 1),
                 .dtype = torch_.options().types.parameter,
                 .index_dtype = style_ == LookupStyle::kBatched
                                    ? ir::DType::kInt32
                                    : ir::DType::kInt64,
                 .kernel = style_ == LookupStyle::kBatched
                               ? ir::BagKernel::kAtomic
                               : ir::BagKernel::kPerTable},
        ddp_(torch_, request.plan, collective_, SummedGradients::kCopies,
             request.settings.bucket_mib),
        rank_(torch_, request.model, request.plan, collective_,
              request.settings.bucket_mib),
        scaler_(torch_) {
    lookups_.alpha =
        CommonAlpha(tables_, lookups_.batch, request.settings.seed);
  }

  void Run() {
    const CudaGraphs graphs = settings_.cuda_graphs;
    CopyBatch();
    if (graphs != CudaGraphs::kOff) {
      CopyTarget();
      step_.BeginCapture();
    }
    const Tensor prediction = Predict();
    if (!torch_.options().train) {
      step_.EndCapture();
      const OpScope op(step_, "aten::to");
      step_.CopyToHost(prediction.bytes());
      return;
    }
    torch_.Label();
    if (graphs == CudaGraphs::kOff) {
      CopyTarget();
    }
    torch_.Loss(prediction, model_.loss);
    scaler_.ScaleLoss();
    if (graphs == CudaGraphs::kOff || graphs == CudaGraphs::kForward) {
      ReadLoss();
    }
    torch_.Label();
    torch_.ZeroGrad();
    torch_.Backward();
    if (graphs == CudaGraphs::kForwardBackward) {
      ReadLoss();
    }
    Update();
    if (graphs == CudaGraphs::kAll) {
      ReadLoss();
    }
  }

 private:
  void Copy(int64_t bytes) {
    const OpScope op(step_, "aten::to");
    step_.CopyToDevice(bytes, settings_.pinned, /*waits=*/true);
  }

  // Ids, where bags begin, dense features.
  void CopyBatch() {
    if (torch_.before_2022()) {
      step_.Op("aten::empty");
      step_.Op("aten::ones");
    }
    torch_.Label();
    const int64_t id_bytes = ir::SizeOf(lookups_.index_dtype);
    const int64_t batch = lookups_.batch;
    if (tables_.empty()) {
      // A rank that others look up for.
    } else if (style_ == LookupStyle::kBatched) {
      Copy(LookupsOf(tables_, batch) * id_bytes);
      Copy((TablesOf(tables_) * batch + 1) * id_bytes);
    } else {
      for (const TableGroup& group : tables_) {
        for (int64_t i = 0; i < group.count; ++i) {
          TableGroup single = group;
          single.count = 1;
          Copy(LookupsOf({&single, 1}, batch) * id_bytes);
        }
      }
      Copy(TablesOf(tables_) * batch * id_bytes);
    }
    if (model_.dense_features > 0) {
      Copy(settings_.batch * model_.dense_features *
           ir::SizeOf(ir::DType::kFp32));
    }
  }

  void CopyTarget() {
    if (torch_.options().train) {
      Copy(settings_.batch * ir::SizeOf(ir::DType::kFp32));
    }
  }

  Tensor Predict() {
    const Tensor dense{.rows = settings_.batch,
                       .columns = model_.dense_features,
                       .dtype = torch_.options().types.parameter};
    return torch_.Sigmoid(Logits(dense));
  }

  Tensor Logits(const Tensor& dense) {
    if (owns_tables_) {
      return rank_.Predict(dense, style_, lookups_);
    }
    if (plan_.world == 1) {
      return Recommend(torch_, model_, dense, style_, lookups_);
    }
    torch_.OnBackward([this] { ddp_.Finish(); });  // After all others.
    torch_.SetGradientHook([this](int64_t elements) { ddp_.Reduce(elements); });
    const Tensor logits = Recommend(torch_, model_, dense, style_, lookups_);
    ddp_.SetParameters(torch_.parameter_count());
    return logits;
  }

  // Every step prints its loss, or could: it is copied to the host.
  void ReadLoss() {
    step_.EndCapture();
    step_.Op("aten::detach");
    const OpScope op(step_, "aten::to");
    step_.CopyToHost(ir::SizeOf(ir::DType::kFp32));
  }

  // Gradients of tables are those of all rows, among the parameters', or
  // sparse: one vector per id. Batched tables are updated before.
  void Unscale() {
    int64_t sparse = 0;
    for (const TableGroup& group : tables_) {
      sparse += style_ == LookupStyle::kBags
                    ? LookupsOf({&group, 1}, lookups_.batch) * group.dim
                    : 0;
    }
    scaler_.Unscale(torch_.parameter_elements() + sparse);
    if (settings_.cuda_graphs != CudaGraphs::kAll) {
      scaler_.ReadOverflow();
    }
  }

  void Update() {
    Unscale();
    torch_.OptimizerStep();
    if (style_ == LookupStyle::kBags) {
      Model owned = model_;
      owned.tables = tables_;
      UpdateBags(torch_, owned, lookups_);
    }
    scaler_.UpdateScale();
  }

  const Model& model_;
  const Settings& settings_;
  const RankPlan& plan_;
  LookupStyle style_;
  StepBuilder& step_;
  Torch torch_;
  ir::StreamId collective_{};
  bool owns_tables_ = false;
  const std::vector<TableGroup>& tables_;  // That this rank looks up.
  LookupOptions lookups_;
  Ddp ddp_;        // Of models that are whole on every rank.
  DlrmRank rank_;  // Of those whose tables are divided.
  GradScaler scaler_;
};

Result<ir::Graph> BuildEager(const Request& request, LookupStyle style) {
  StepBuilder step("model");
  switch (request.model.kind) {
    case ModelKind::kResNet50:
    case ModelKind::kInceptionV3:
    case ModelKind::kTransformer:
      RunNetwork(request.model, request.settings, request.plan,
                 EagerOptions(request), step);
      break;
    default:
      EagerRecommender(request, style, step).Run();
  }
  return std::move(step).Finish();
}

}  // namespace

Result<ir::Graph> BuildPytorch(const Request& request) {
  return BuildEager(request, LookupStyle::kBatched);
}

Result<ir::Graph> BuildPytorchBags(const Request& request) {
  return BuildEager(request, LookupStyle::kBags);
}

}  // namespace stepcast::model
