// DLRM of NVIDIA's DeepLearningExamples (PyTorch/Recommendation/DLRM): a rank's
// tables in one matrix, fused gather, interaction and MLPs.
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/frameworks/exchange.h"
#include "model/frameworks/implementations.h"
#include "model/frameworks/torch/torch.h"
#include "model/shapes.h"
#include "model/tables/embedding_stats.h"
#include "model/tables/rank_plan.h"

namespace stepcast::model {
namespace {

// An MLP in one op, as Apex fuses it: a product a layer, bias and
// ReLU in one kernel after it.

// How the layers are fused.
struct FusedMlp {
  std::string_view op;    // Of the forward.
  std::string_view node;  // Of the backward.
};

struct Layer {
  int64_t in = 0;
  int64_t out = 0;
};

void LayerForward(Torch& torch, int64_t rows, const Layer& layer) {
  const Types& types = torch.options().types;
  torch.step().Launch(Forward(rows, layer.in, layer.out, types.product));
  torch.step().Launch(Stream(rows * layer.out, 1, types.activation));
}

// ReLU and bias gradient in one kernel, which sums what it writes.
void Backward(Torch& torch, int64_t rows, const Layer& layer, bool data) {
  const Types& types = torch.options().types;
  StepBuilder& step = torch.step();
  step.Launch(Stream(rows * layer.out, 2, types.activation));
  if (data) {
    step.Launch(DataGradient(rows, layer.in, layer.out, types.product));
  }
  step.Launch(WeightGradient(rows, layer.in, layer.out, types.product));
}

// Parameters come in pairs: weights, bias.
std::vector<int64_t> ParametersOf(std::span<const Layer> layers) {
  std::vector<int64_t> parameters;
  for (const Layer& layer : layers) {
    parameters.push_back(layer.in * layer.out);
    parameters.push_back(layer.out);
  }
  return parameters;
}

// Inputs and parameters in the type of the products, each by an op.
void CastInputs(Torch& torch, const Tensor& x,
                std::span<const int64_t> parameters) {
  const Types& types = torch.options().types;
  const auto cast = [&](int64_t elements, ir::DType from, ir::DType to) {
    const OpScope op(torch.step(), "aten::to");
    torch.step().Launch(Cast(elements, from, to));
  };
  if (ir::SizeOf(x.dtype) != ir::SizeOf(types.activation)) {
    cast(x.elements(), x.dtype, types.activation);
  }
  for (const int64_t elements : parameters) {
    if (types.cast) {
      cast(elements, types.parameter, types.product);
    }
  }
}

void BackwardAll(Torch& torch, const Tensor& x, std::span<const Layer> layers,
                 std::string_view node) {
  const std::vector<int64_t> parameters = ParametersOf(layers);
  {
    const NodeScope scope(torch, node);
    for (size_t i = layers.size(); i-- > 0;) {
      Backward(torch, x.rows, layers[i], i > 0 || x.grad);
    }
    // Gradients in the parameters' own type.
    const Types& types = torch.options().types;
    for (const int64_t elements : parameters) {
      torch.CastInside(elements, types.product, types.parameter);
    }
  }
  for (size_t i = parameters.size(); i-- > 0;) {
    const NodeScope scope(torch, "torch::autograd::AccumulateGrad");
    torch.GradientReady(parameters[i]);
  }
}

Tensor RunFusedMlp(Torch& torch, const Tensor& x,
                   std::span<const int64_t> widths, const FusedMlp& fused) {
  if (widths.empty()) {
    return x;
  }
  std::vector<Layer> layers;
  for (size_t i = 0; i < widths.size(); ++i) {
    layers.push_back(
        {.in = i == 0 ? x.columns : widths[i - 1], .out = widths[i]});
  }
  const std::vector<int64_t> parameters = ParametersOf(layers);
  for (const int64_t elements : parameters) {
    torch.AddParameter(elements);
  }
  CastInputs(torch, x, parameters);
  {
    const OpScope op(torch.step(), fused.op);
    for (const Layer& layer : layers) {
      LayerForward(torch, x.rows, layer);
    }
  }
  torch.OnBackward([&torch, x, layers, node = fused.node] {
    BackwardAll(torch, x, layers, node);
  });
  return {.rows = x.rows,
          .columns = widths.back(),
          .dtype = torch.options().types.activation,
          .grad = torch.options().train};
}

// NVIDIA's exchange between ranks that have the tables and bottom MLP, and
// ranks that have the samples (BottomToTop of its PyTorch DLRM).

// Gradients in the order of the ranks that made the vectors, a tensor for each,
// and back to them.
void Backward(Torch& torch, const RankPlan& plan, ir::StreamId stream,
              const Tensor& all, const Portions& portions) {
  StepBuilder& step = torch.step();
  const NodeScope node(torch, "BottomToTopBackward");
  step.Launch(ir::Index{.elements = all.elements(),
                        .source = all.elements(),
                        .dtype = all.dtype});
  for (const int64_t part : PartsOf(plan, portions)) {
    step.Launch(ir::Transpose{.elements = part, .dtype = all.dtype});
  }
  step.Collect(ToTables(plan, portions, all.dtype), stream);
  step.WaitForStream(stream);
}

Tensor BottomToTop(Torch& torch, const RankPlan& plan, ir::StreamId stream,
                   const Tensor& made, int64_t vectors) {
  StepBuilder& step = torch.step();
  const int64_t batch = made.rows / plan.world;
  const Tensor all{.rows = batch,
                   .columns = vectors,
                   .dtype = torch.options().types.activation,
                   .grad = torch.options().train};
  const Portions portions = PortionsOf(plan, &RankLoad::columns, batch,
                                       {.own = made.columns, .all = vectors});
  {
    const OpScope op(step, "BottomToTop");
    step.Collect(ToSamples(plan, portions, all.dtype), stream);
    step.WaitForStream(stream);
    // What came of each rank side by side, then in the order of the features.
    step.Launch(ir::Concat{.tensors = std::ssize(PartsOf(plan, portions)),
                           .elements = all.elements(),
                           .dtype = all.dtype});
    step.Launch(ir::Index{.elements = all.elements(),
                          .source = all.elements(),
                          .dtype = all.dtype});
  }
  torch.OnBackward([&torch, &plan, stream, all, portions] {
    Backward(torch, plan, stream, all, portions);
  });
  return all;
}

constexpr FusedMlp kApexMlp{.op = "MlpFunction", .node = "MlpFunctionBackward"};

class NvidiaDlrm {
 public:
  NvidiaDlrm(const Request& request, StepBuilder& step)
      : model_(request.model),
        settings_(request.settings),
        plan_(request.plan),
        step_(step),
        torch_(step, {.release = request.settings.torch.value_or(
                          TorchRelease::kTorch111),
                      .types = TypesOf(request.settings.precision),
                      .train = request.settings.mode == Mode::kTrain,
                      .optimizer = request.model.dense_optimizer,
                      .form = OptimizerForm::kFused}),
        batch_(request.settings.batch),
        all_batch_(request.settings.batch * request.plan.world),
        vectors_(TableCount(request.model)),
        dim_(request.model.tables.front().dim),
        collective_(request.plan.world > 1 ? step.AddStream(kCollectiveStream)
                                           : ir::StreamId{}),
        ddp_(torch_, request.plan, collective_, SummedGradients::kCopies,
             request.settings.bucket_mib),
        scaler_(torch_) {}

  void Run() {
    const bool train = torch_.options().train;
    const CudaGraphs graphs = settings_.cuda_graphs;
    CopyBatch(settings_.loader_overlap.value_or(train));
    if (graphs != CudaGraphs::kOff) {
      CopyToStaticInputs();
      step_.BeginCapture();
    }
    if (!alone()) {
      torch_.OnBackward([this] { ddp_.Finish(); });  // After all others.
    }
    const Tensor logits = Predict();
    if (!train) {
      step_.EndCapture();
      step_.SyncDevice();
      return;
    }
    torch_.LossWithLogits(logits);
    scaler_.ScaleLoss();
    if (graphs == CudaGraphs::kForward) {
      step_.EndCapture();
    }
    torch_.Backward();
    if (graphs == CudaGraphs::kForwardBackward) {
      step_.EndCapture();
    }
    scaler_.Unscale(torch_.parameter_elements());
    scaler_.ReadOverflow();
    torch_.OptimizerStep();
    // The tables have an optimizer of their own.
    scaler_.Unscale(table_elements());
    UpdateTables();
    step_.EndCapture();
    // The loss is summed on the device and read occasionally.
    const OpScope op(step_, "aten::add_");
    step_.Launch(Stream(1, 2, ir::DType::kFp32));
  }

 private:
  bool alone() const { return plan_.world == 1; }
  int64_t table_elements() const { return all_batch_ * ColumnsOf(plan_.local); }

  // What this rank reads of the samples of all: numbers where the bottom MLP
  // is, ids of its tables.
  std::vector<int64_t> InputBytes() const {
    std::vector<int64_t> bytes;
    if (plan_.bottom_mlp) {
      bytes.push_back(all_batch_ * model_.dense_features *
                      ir::SizeOf(ir::DType::kFp32));
    }
    if (!plan_.local.empty()) {
      bytes.push_back(LookupsOf(plan_.local, all_batch_) *
                      ir::SizeOf(ir::DType::kInt64));
    }
    return bytes;
  }

  // Numbers, ids and, to train, clicks.
  void CopyBatch(bool overlapped) {
    std::vector<int64_t> bytes = InputBytes();
    if (torch_.options().train) {
      bytes.push_back(all_batch_ * ir::SizeOf(ir::DType::kFp32));
    }
    if (overlapped) {
      step_.UseStream(step_.AddStream(StepBuilder::kCopyStream));
    }
    for (const int64_t size : bytes) {
      const OpScope op(step_, "aten::to");
      step_.CopyToDevice(size, settings_.pinned, /*waits=*/!overlapped);
    }
    // What is copied now is the next batch.
    step_.UseStream(step_.compute_stream());
  }

  void CopyToStaticInputs() {
    for (const int64_t size : InputBytes()) {
      const OpScope op(step_, "aten::copy_");
      step_.CopyOnDevice(size);
    }
  }

  ir::EmbeddingBag Bag(ir::DType dtype) const {
    ir::EmbeddingBag bag =
        Lookup(plan_.local,
               {.batch = all_batch_,
                .dtype = dtype,
                .alpha = CommonAlpha(plan_.local, all_batch_, settings_.seed)});
    bag.pooled = false;
    bag.longest_bag = 0;
    return bag;
  }

  // Several ranks gather by other ops: where each table begins is added to the
  // ids, and what is gathered is cast after it.
  Tensor Gather() {
    const Types& types = torch_.options().types;
    if (!alone()) {
      const OpScope op(step_, "aten::add");
      step_.Launch(
          Stream(LookupsOf(plan_.local, all_batch_), 1, ir::DType::kInt64));
    }
    {
      const OpScope op(step_, alone() ? "BuckleEmbeddingFusedGatherFunction"
                                      : "EmbeddingGatherFunction");
      step_.Launch(Bag(types.parameter));
    }
    if (!alone() &&
        ir::SizeOf(types.parameter) != ir::SizeOf(types.activation)) {
      const OpScope op(step_, "aten::to");
      step_.Launch(Cast(table_elements(), types.parameter, types.activation));
    }
    torch_.OnBackward([this] {
      const Types& t = torch_.options().types;
      const NodeScope node(
          torch_, alone() ? "BuckleEmbeddingFusedGatherFunctionBackward"
                          : "EmbeddingGatherFunctionBackward");
      // Gradients row by row, as a sparse tensor in the tables' type.
      step_.Launch(Cast(table_elements(), t.activation, t.parameter));
    });
    torch_.OnBackward(
        [this] { torch_.Node("torch::autograd::AccumulateGrad"); });
    return {.rows = all_batch_,
            .columns = ColumnsOf(plan_.local),
            .dtype = types.activation,
            .grad = torch_.options().train};
  }

  Tensor Bottom() {
    return RunFusedMlp(torch_,
                       {.rows = all_batch_,
                        .columns = model_.dense_features,
                        .dtype = ir::DType::kFp32},
                       model_.bottom_mlp, kApexMlp);
  }

  // Vectors of the tables and the bottom MLP that this rank has, for the
  // samples of all, to the ranks of the samples. After it, all ranks do the
  // same, and DDP sums what they learn.
  void Meet() {
    std::vector<Tensor> parts;
    if (plan_.bottom_mlp) {
      parts.push_back(Bottom());
    }
    if (!plan_.local.empty()) {
      parts.push_back(Gather());
    }
    Tensor made{.rows = all_batch_, .columns = 0};
    if (!parts.empty()) {
      made = parts.size() > 1 ? torch_.Cat(parts) : parts.front();
    }
    BottomToTop(torch_, plan_, collective_, made, (vectors_ + 1) * dim_);
    // Autograd comes here when it is through with the top.
    torch_.OnBackward([this] { torch_.SetGradientHook({}); });
    torch_.SetGradientHook([this](int64_t elements) { ddp_.Reduce(elements); });
  }

  Tensor Predict() {
    const Types& types = torch_.options().types;
    if (alone()) {
      const Tensor vectors = Gather();
      torch_.Cat(std::vector<Tensor>{Bottom(), vectors});
    } else {
      Meet();
    }
    const int64_t below = torch_.parameter_count();
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
    const int64_t width = PaddedTo(InteractionWidth(model_), kRowPadding);
    const Tensor x{.rows = batch_,
                   .columns = width,
                   .dtype = types.activation,
                   .grad = torch_.options().train};
    const std::span<const int64_t> widths(model_.top_mlp);
    const Tensor hidden =
        RunFusedMlp(torch_, x, widths.first(widths.size() - 1), kApexMlp);
    const Tensor logits = torch_.Linear(hidden, widths.back());
    ddp_.SetParameters(torch_.parameter_count() - below);
    return logits;
  }

  // torch.optim.SGD adds a sparse gradient that was never summed: values times
  // the learning rate, ids in one dimension, rows added one by one.
  void UpdateTables() {
    if (plan_.local.empty()) {
      return;
    }
    const ir::DType dtype = torch_.options().types.parameter;
    const OpScope op(step_, "aten::add_");
    step_.Launch(Stream(table_elements(), 1, dtype));
    step_.Launch(
        Stream(LookupsOf(plan_.local, all_batch_), 1, ir::DType::kInt64));
    ir::EmbeddingBag bag = Bag(dtype);
    bag.pass = ir::Pass::kBackward;
    bag.update = UpdateOf(model_.table_optimizer);
    bag.kernel = ir::BagKernel::kAtomic;
    step_.Launch(bag);
  }

  const Model& model_;
  const Settings& settings_;
  const RankPlan& plan_;
  StepBuilder& step_;
  Torch torch_;
  int64_t batch_ = 0;      // Of this rank.
  int64_t all_batch_ = 0;  // Of all.
  int64_t vectors_ = 0;
  int64_t dim_ = 0;
  ir::StreamId collective_{};
  Ddp ddp_;
  GradScaler scaler_;
};

// The fused kernels exist for one id per table and one dim.
Status CheckModel(const Model& model) {
  const bool one_hot =
      std::ranges::all_of(model.tables, [&](const TableGroup& group) {
        return group.pooling == 1 && group.dim == model.tables.front().dim;
      });
  if (!one_hot || model.interaction.kind != InteractionKind::kDot ||
      model.bottom_mlp.empty()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is not one that NVIDIA's fused DLRM runs; "
                            "expected a bottom MLP, one id per table, one dim, "
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

}  // namespace stepcast::model
