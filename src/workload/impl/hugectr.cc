// DLRM like HugeCTR runs it: a C++ program that fuses what it can, in mixed
// precision with weights kept in both types.
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/impl/hugectr_embedding.h"
#include "workload/impl/implementations.h"
#include "workload/impl/torch.h"
#include "workload/shapes.h"

namespace stepcast::workload {
namespace {

// Weights are kept in the products' type; the optimizer writes both.
Types MasterTypes(Precision precision) {
  Types types = TypesOf(precision);
  types.cast = false;
  return types;
}

class HugectrDlrm {
 public:
  HugectrDlrm(const Request& request, StepBuilder& step)
      : model_(request.model),
        settings_(request.settings),
        step_(step),
        torch_(step, {.release = TorchRelease::kTorch111,
                      .types = MasterTypes(request.settings.precision),
                      .train = request.settings.mode == Mode::kTrain,
                      .optimizer = request.model.dense_optimizer,
                      .form = OptimizerForm::kFused}),
        batch_(request.settings.batch),
        embedding_(request, torch_) {}

  void Run() {
    const CudaGraphs graphs = settings_.cuda_graphs;
    CopyNextBatch();
    if (graphs != CudaGraphs::kOff) {
      step_.BeginCapture();
    }
    const Tensor logits = Predict();
    if (!torch_.options().train) {
      step_.EndCapture();
      step_.SyncDevice();
      return;
    }
    Loss(logits);
    if (graphs == CudaGraphs::kForward) {
      step_.EndCapture();
    }
    // One thread does it all.
    step_.SetPhase(ir::Phase::kBackward);
    for (auto node = backward_.rbegin(); node != backward_.rend(); ++node) {
      (*node)();
    }
    step_.SetPhase(ir::Phase::kOptimizer);
    if (graphs == CudaGraphs::kForwardBackward) {
      step_.EndCapture();
    }
    embedding_.FinishReduction();
    torch_.OptimizerStep();
    step_.EndCapture();
  }

 private:
  void Kernel(std::string_view op, const ir::KernelShape& shape) {
    const OpScope scope(step_, op);
    step_.Launch(shape);
  }
  void Keep(std::function<void()> node) {
    if (torch_.options().train) {
      backward_.push_back(std::move(node));
    }
  }

  // The reader copies while the step runs.
  void CopyNextBatch() {
    const bool overlapped = settings_.loader_overlap.value_or(true);
    if (overlapped) {
      step_.UseStream(step_.AddStream(StepBuilder::kCopyStream));
    }
    for (const int64_t bytes :
         {batch_ * (model_.dense_features + 1) * ir::SizeOf(ir::DType::kFp32),
          embedding_.ids() * ir::SizeOf(ir::DType::kInt32)}) {
      const OpScope op(step_, "DataReader");
      step_.CopyToDevice(bytes, settings_.pinned, /*waits=*/!overlapped);
    }
    step_.UseStream(step_.compute_stream());
  }

  Tensor Mlp(const Tensor& x, std::span<const int64_t> widths) {
    const Types& types = torch_.options().types;
    Tensor y = x;
    for (const int64_t out : widths) {
      const Tensor input = y;
      Kernel("MLPLayer", Forward(y.rows, y.columns, out, types.product));
      torch_.AddParameter(y.columns * out);
      torch_.AddParameter(out);
      parameters_ += y.columns * out + out;
      Keep([this, input, out] {
        const ir::DType dtype = torch_.options().types.product;
        const OpScope scope(step_, "MLPLayer");
        if (input.grad) {
          step_.Launch(DataGradient(input.rows, input.columns, out, dtype));
        }
        step_.Launch(WeightGradient(input.rows, input.columns, out, dtype));
      });
      y = {.rows = y.rows,
           .columns = out,
           .dtype = types.activation,
           .grad = torch_.options().train};
    }
    return y;
  }

  Tensor Interact(const Tensor& bottom, const Tensor& vectors) {
    const Types& types = torch_.options().types;
    Tensor result{.rows = batch_,
                  .columns = InteractionWidth(model_),
                  .dtype = types.activation,
                  .grad = torch_.options().train};
    if (model_.interaction.kind == InteractionKind::kDot) {
      const ir::Interaction dot{
          .batch = batch_,
          .features = TableCount(model_) + (bottom.columns > 0 ? 1 : 0),
          .dim = model_.tables.front().dim,
          .dtype = types.product};
      Kernel("Interaction", dot);
      Keep([this, dot] {
        ir::Interaction backward = dot;
        backward.pass = ir::Pass::kBackward;
        Kernel("Interaction", backward);
      });
      result.columns = PaddedTo(result.columns, kRowPadding);
      return result;
    }
    const ir::Concat parts{.tensors = 2,
                           .elements = bottom.elements() + vectors.elements(),
                           .dtype = types.activation};
    Kernel("Concat", parts);
    Keep([this, parts] { Kernel("Concat", parts); });
    for (int64_t i = 0; i < model_.interaction.cross_layers; ++i) {
      Cross(result);
    }
    return result;
  }

  // x0 * (U (V x) + b) + x: two products, then all the rest in one kernel.
  void Cross(const Tensor& x) {
    const std::vector<int64_t> widths = {model_.interaction.cross_rank,
                                         x.columns};
    Mlp(x, widths);
    Kernel("MultiCross", Stream(x.elements(), 3, x.dtype));
    Keep([this, x] {
      Kernel("MultiCross", Stream(2 * x.elements(), 2, x.dtype));
    });
  }

  Tensor Predict() {
    const Tensor dense{.rows = batch_,
                       .columns = model_.dense_features,
                       .dtype = torch_.options().types.activation};
    embedding_.LookUp();
    Keep([this] { embedding_.Update(); });
    // Behind the last gradient of the MLPs, which rows need not wait for.
    Keep([this] { embedding_.Reduce(parameters_); });
    const Tensor bottom = Mlp(dense, model_.bottom_mlp);
    const Tensor vectors = embedding_.Receive();
    Keep([this] { embedding_.SendGradients(); });
    return Mlp(Interact(bottom, vectors), model_.top_mlp);
  }

  void Loss(const Tensor& logits) {
    Kernel("BinaryCrossEntropyLoss",
           Stream(logits.elements(), 2, ir::DType::kFp32,
                  ir::Arithmetic::kTranscendental));
  }

  const Model& model_;
  const Settings& settings_;
  StepBuilder& step_;
  Torch torch_;
  int64_t batch_ = 0;
  int64_t parameters_ = 0;  // Numbers of the MLPs.
  HugectrEmbedding embedding_;
  std::vector<std::function<void()>> backward_;
};

}  // namespace

Result<ir::Graph> BuildHugectr(const Request& request) {
  StepBuilder step("model");
  HugectrDlrm(request, step).Run();
  return std::move(step).Finish();
}

}  // namespace stepcast::workload
