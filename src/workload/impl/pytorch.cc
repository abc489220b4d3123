// Eager PyTorch as facebookresearch/dlrm runs it: batches copied and waited
// for, every op on its own, the loss read by the host in every step.
#include <vector>

#include "workload/embedding_stats.h"
#include "workload/impl/ddp.h"
#include "workload/impl/dlrm_rank.h"
#include "workload/impl/embeddings.h"
#include "workload/impl/exchange.h"
#include "workload/impl/grad_scaler.h"
#include "workload/impl/implementations.h"
#include "workload/impl/networks.h"
#include "workload/impl/recommenders.h"
#include "workload/impl/torch.h"

namespace stepcast::workload {
namespace {

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
  // sparse: a vector an id. Batched tables are updated before.
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
  DlrmRank rank_;  // Of those whose tables are shared out.
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

}  // namespace stepcast::workload
