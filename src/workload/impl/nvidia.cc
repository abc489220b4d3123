// DLRM of NVIDIA's DeepLearningExamples (PyTorch/Recommendation/DLRM) on one
// GPU: all tables in one matrix, fused gather, interaction and MLPs.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workload/embedding_stats.h"
#include "workload/impl/fused_mlp.h"
#include "workload/impl/implementations.h"
#include "workload/impl/torch.h"

namespace stepcast::workload {
namespace {

// Streams as profilers number them: the loader copies on one of its own.
constexpr int64_t kCopyStream = 20;

// The interaction's result is padded so that rows start aligned: 479 to 480.
constexpr int64_t kPadding = 8;

constexpr FusedMlp kApexMlp{.op = "MlpFunction", .node = "MlpFunctionBackward"};

class NvidiaDlrm {
 public:
  NvidiaDlrm(const Request& request, StepBuilder& step)
      : model_(request.model),
        settings_(request.settings),
        step_(step),
        torch_(step, {.release = request.settings.torch.value_or(
                          TorchRelease::kTorch111),
                      .types = TypesOf(request.settings.precision),
                      .train = request.settings.mode == Mode::kTrain,
                      .optimizer = request.model.dense_optimizer,
                      .form = OptimizerForm::kFused}),
        batch_(request.settings.batch),
        vectors_(TableCount(request.model)),
        dim_(request.model.tables.front().dim) {}

  void Run() {
    const bool train = torch_.options().train;
    const CudaGraphs graphs = settings_.cuda_graphs;
    CopyBatch(settings_.loader_overlap.value_or(train));
    if (graphs != CudaGraphs::kOff) {
      CopyToStaticInputs();
      step_.BeginCapture();
    }
    const Tensor logits = Predict();
    if (!train) {
      step_.EndCapture();
      step_.SyncDevice();
      return;
    }
    torch_.LossWithLogits(logits);
    ScaleLoss();
    if (graphs == CudaGraphs::kForward) {
      step_.EndCapture();
    }
    torch_.Backward();
    if (graphs == CudaGraphs::kForwardBackward) {
      step_.EndCapture();
    }
    torch_.OptimizerStep();
    UpdateTables();
    step_.EndCapture();
    // The loss is summed on the device and read now and then.
    const OpScope op(step_, "aten::add_");
    step_.Launch(Stream(1, 2, ir::DType::kFp32));
  }

 private:
  int64_t table_elements() const { return batch_ * vectors_ * dim_; }

  // Numbers, ids and, to train, clicks.
  void CopyBatch(bool overlapped) {
    std::vector<int64_t> bytes = {
        batch_ * model_.dense_features * ir::SizeOf(ir::DType::kFp32),
        LookupsOf(model_.tables, batch_) * ir::SizeOf(ir::DType::kInt64)};
    if (torch_.options().train) {
      bytes.push_back(batch_ * ir::SizeOf(ir::DType::kFp32));
    }
    if (overlapped) {
      step_.UseStream(step_.AddStream(kCopyStream));
    }
    for (const int64_t size : bytes) {
      const OpScope op(step_, "aten::to");
      step_.CopyToDevice(size, settings_.pinned, /*waits=*/!overlapped);
    }
    // What is copied now is the next batch.
    step_.UseStream(step_.compute_stream());
  }

  void CopyToStaticInputs() {
    for (const int64_t size :
         {batch_ * model_.dense_features * ir::SizeOf(ir::DType::kFp32),
          LookupsOf(model_.tables, batch_) * ir::SizeOf(ir::DType::kInt64)}) {
      const OpScope op(step_, "aten::copy_");
      step_.CopyOnDevice(size);
    }
  }

  ir::EmbeddingBag Bag(ir::DType dtype) const {
    ir::EmbeddingBag bag =
        Lookup(model_.tables,
               {.batch = batch_,
                .dtype = dtype,
                .alpha = CommonAlpha(model_.tables, batch_, settings_.seed)});
    bag.pooled = false;
    bag.longest_bag = 0;
    return bag;
  }

  Tensor Gather() {
    const Types& types = torch_.options().types;
    {
      const OpScope op(step_, "BuckleEmbeddingFusedGatherFunction");
      step_.Launch(Bag(types.parameter));
    }
    torch_.OnBackward([this] {
      const Types& t = torch_.options().types;
      const NodeScope node(torch_,
                           "BuckleEmbeddingFusedGatherFunctionBackward");
      // Gradients row by row, as a sparse tensor in the tables' type.
      step_.Launch(Cast(table_elements(), t.activation, t.parameter));
    });
    torch_.OnBackward(
        [this] { torch_.Node("torch::autograd::AccumulateGrad"); });
    return {.rows = batch_,
            .columns = vectors_ * dim_,
            .dtype = types.activation,
            .grad = torch_.options().train};
  }

  Tensor Predict() {
    const Types& types = torch_.options().types;
    const Tensor dense{.rows = batch_,
                       .columns = model_.dense_features,
                       .dtype = ir::DType::kFp32};
    const Tensor vectors = Gather();
    const Tensor bottom =
        RunFusedMlp(torch_, dense, model_.bottom_mlp, kApexMlp);
    torch_.Cat(std::vector<Tensor>{bottom, vectors});
    const ir::Interaction dot{.batch = batch_,
                              .features = vectors_ + 1,
                              .dim = dim_,
                              .dtype = types.product};
    {
      const OpScope op(step_, "DotBasedInteract");
      step_.Launch(dot);
    }
    torch_.OnBackward([this, dot] {
      ir::Interaction backward = dot;
      backward.pass = ir::Pass::kBackward;
      torch_.Node("DotBasedInteractBackward", backward);
    });
    const int64_t width =
        (InteractionWidth(model_) + kPadding - 1) / kPadding * kPadding;
    const Tensor x{.rows = batch_,
                   .columns = width,
                   .dtype = types.activation,
                   .grad = torch_.options().train};
    const std::span<const int64_t> widths(model_.top_mlp);
    const Tensor hidden =
        RunFusedMlp(torch_, x, widths.first(widths.size() - 1), kApexMlp);
    return torch_.Linear(hidden, widths.back());
  }

  // Mixed precision trains with a static loss scale, undone in the learning
  // rate.
  void ScaleLoss() {
    if (!torch_.options().types.cast) {
      return;
    }
    {
      const OpScope op(step_, "aten::mul");
      step_.Launch(Stream(1, 1, ir::DType::kFp32));
    }
    torch_.OnBackward([this] {
      torch_.Node("MulBackward0", Stream(1, 1, ir::DType::kFp32));
    });
  }

  // torch.optim.SGD adds a sparse gradient that was never summed: values times
  // the learning rate, ids in one dimension, rows added one by one.
  void UpdateTables() {
    const ir::DType dtype = torch_.options().types.parameter;
    const OpScope op(step_, "aten::add_");
    step_.Launch(Stream(table_elements(), 1, dtype));
    step_.Launch(
        Stream(LookupsOf(model_.tables, batch_), 1, ir::DType::kInt64));
    ir::EmbeddingBag bag = Bag(dtype);
    bag.pass = ir::Pass::kBackward;
    bag.update = UpdateOf(model_.table_optimizer);
    bag.kernel = ir::BagKernel::kAtomic;
    step_.Launch(bag);
  }

  const Model& model_;
  const Settings& settings_;
  StepBuilder& step_;
  Torch torch_;
  int64_t batch_ = 0;
  int64_t vectors_ = 0;
  int64_t dim_ = 0;
};

// The fused kernels exist for one id a table and one dim.
Status CheckModel(const Model& model) {
  const bool one_hot =
      std::ranges::all_of(model.tables, [&](const TableGroup& group) {
        return group.pooling == 1 && group.dim == model.tables.front().dim;
      });
  if (!one_hot || model.interaction.kind != InteractionKind::kDot ||
      model.bottom_mlp.empty()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is not one that NVIDIA's fused DLRM runs; "
                            "expected a bottom MLP, one id a table, one dim, "
                            "and a dot interaction",
                            model.name));
  }
  return {};
}

}  // namespace

Result<ir::Graph> BuildNvidia(const Request& request) {
  RETURN_IF_ERROR(CheckModel(request.model));
  StepBuilder step("model");
  NvidiaDlrm(request, step).Run();
  return std::move(step).Finish();
}

}  // namespace stepcast::workload
