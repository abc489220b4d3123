// Eager PyTorch: forward ops as they are called, and the backward nodes that
// autograd then runs in reverse.
#ifndef STEPCAST_MODEL_FRAMEWORKS_TORCH_TORCH_H_
#define STEPCAST_MODEL_FRAMEWORKS_TORCH_TORCH_H_

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.h"
#include "model/settings.h"
#include "model/shapes.h"
#include "model/step_builder.h"

namespace stepcast::model {

/// A tensor on the device: `rows` samples, or more, of `columns` numbers.
struct Tensor {
  int64_t rows = 1;
  int64_t columns = 1;
  ir::DType dtype = ir::DType::kFp32;
  bool grad = false;  // Autograd wants its gradient.

  int64_t elements() const { return rows * columns; }
  int64_t bytes() const { return elements() * ir::SizeOf(dtype); }
};

struct TorchOptions {
  TorchRelease release = TorchRelease::kTorch111;
  Types types{};
  bool train = true;
  Optimizer optimizer = Optimizer::kSgd;
  OptimizerForm form = OptimizerForm::kPerTensor;
};

/// Each function that computes something adds its forward op to the step and
/// keeps its backward node. Nodes run in reverse order, gradients of parameters
/// as soon as they are there: so does autograd's queue.
class Torch {
 public:
  Torch(StepBuilder& step, const TorchOptions& options)
      : step_(step), options_(options) {}

  StepBuilder& step() { return step_; }
  const TorchOptions& options() const { return options_; }
  bool before_2021() const {
    return options_.release == TorchRelease::kTorch15;
  }
  bool before_2022() const {
    return before_2021() || options_.release == TorchRelease::kTorch18;
  }
  bool since_2023() const { return options_.release == TorchRelease::kTorch21; }

  /// Entering a labelled range of the model (record_function): ops of their own
  /// in early releases.
  void Label();

  // Layers.
  Tensor Linear(const Tensor& x, int64_t out, bool bias = true);
  Tensor Relu(const Tensor& x);
  Tensor Sigmoid(const Tensor& x);
  Tensor Dropout(const Tensor& x);
  /// Side by side; the rows stay. The type is that of the widest part: autocast
  /// casts the others ("CUDA Ops that promote to the widest input type" in
  /// PyTorch's documentation of torch.amp), as apex did before.
  Tensor Cat(std::span<const Tensor> parts);
  /// Both of one size.
  Tensor Add(const Tensor& a, const Tensor& b);
  Tensor Mul(const Tensor& a, const Tensor& b);
  /// Sums over `columns` / `groups` numbers each.
  Tensor SumColumns(const Tensor& x, int64_t groups);
  /// Linear layers with a ReLU after each, after the last one on demand.
  Tensor Mlp(Tensor x, std::span<const int64_t> widths, bool last_relu,
             double dropout = 0);
  /// The mean loss of predictions.
  void Loss(const Tensor& x, model::Loss loss);
  void LossWithLogits(const Tensor& x);
  /// Of x.rows samples with x.columns classes.
  void CrossEntropy(const Tensor& x);

  // What layers are made of.
  /// A matrix product, and what cuBLAS does before it.
  void Product(const ir::Gemm& gemm);
  /// A batch of them.
  void BatchedProduct(const ir::Gemm& gemm) { step_.Launch(OnUnits(gemm)); }
  /// A sum over rows, and what it needs before it.
  void SumRows(int64_t rows, int64_t columns, ir::DType dtype);
  /// Runs when autograd comes to it.
  void OnBackward(std::function<void()> node) {
    if (options_.train) {
      tape_.push_back(std::move(node));
    }
  }
  void BeginNode(std::string_view name);
  void EndNode() { step_.End(); }
  /// A node that launches nothing.
  void Node(std::string_view name);
  /// A node with one kernel.
  void Node(std::string_view name, const ir::KernelShape& shape);
  /// Two gradients of one tensor meet. Autograd adds them when it runs the node
  /// that made the second one: call it before that node ends.
  void AddGradients(const ir::KernelShape& shape);
  /// Calls `reduce` with the elements of a gradient inside the node that
  /// accumulates it, after what that does by itself: DDP's hook.
  void SetGradientHook(std::function<void(int64_t)> reduce) {
    gradient_hook_ = std::move(reduce);
  }
  /// A parameter, in the order of the optimizer; its gradient comes later.
  void AddParameter(int64_t elements) { parameters_.push_back(elements); }
  void AccumulateGrad(int64_t elements);
  /// Inside a node that accumulates a gradient by itself: calls DDP's hook.
  void GradientReady(int64_t elements) {
    if (gradient_hook_) {
      gradient_hook_(elements);
    }
  }
  int64_t parameter_count() const { return std::ssize(parameters_); }
  /// Numbers of all parameters together.
  int64_t parameter_elements() const {
    return std::accumulate(parameters_.begin(), parameters_.end(), int64_t{0});
  }
  /// The gradient of a parameter that was cast, back in its own type.
  void UncastGradient(int64_t elements);
  /// Casts a tensor to `dtype` inside an op, if it has another.
  void CastInside(int64_t elements, ir::DType from, ir::DType to);
  /// The forward op of Cat alone.
  Tensor Join(std::span<const Tensor> parts);
  /// The gradient of a tensor that was cast to `from`, if it was.
  void UncastPart(const Tensor& part, ir::DType from);

  // The rest of the step.
  void ZeroGrad();
  /// From the loss on: its gradient, 1, then the nodes on autograd's thread.
  void Backward();
  void OptimizerStep();

 private:
  ir::Gemm OnUnits(ir::Gemm gemm) const;
  void LinearBackward(const Tensor& x, int64_t out, bool bias);
  void Update(int64_t elements);
  void UpdateAll();
  void Foreach(std::string_view op, int64_t inputs, ir::Update update);
  Tensor Unary(const Tensor& x, std::string_view op, std::string_view node,
               ir::Arithmetic arithmetic);

  StepBuilder& step_;
  TorchOptions options_;
  std::vector<std::function<void()>> tape_;
  std::vector<int64_t> parameters_;
  std::function<void(int64_t)> gradient_hook_;
};

/// Ends the node it began.
class NodeScope {
 public:
  NodeScope(Torch& torch, std::string_view name) : torch_(torch) {
    torch_.BeginNode(name);
  }
  NodeScope(const NodeScope&) = delete;
  NodeScope& operator=(const NodeScope&) = delete;
  ~NodeScope() { torch_.EndNode(); }

 private:
  Torch& torch_;
};

// torch.cuda.amp.GradScaler: what mixed precision adds to a training step so
// that small gradients do not vanish in FP16.

/// Does nothing in steps without autocast and in inference.
class GradScaler {
 public:
  explicit GradScaler(Torch& torch)
      : torch_(torch),
        used_(torch.options().train && torch.options().types.cast) {}

  bool used() const { return used_; }

  /// After the loss: multiplies it.
  void ScaleLoss();
  /// Divides gradients of so many numbers, all in one op, and looks for what
  /// overflowed.
  void Unscale(int64_t elements);
  /// The host reads whether anything did: only then the step is taken.
  void ReadOverflow();
  /// After the update: the scale of the next step.
  void UpdateScale();

 private:
  Torch& torch_;
  bool used_ = false;
};

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_FRAMEWORKS_TORCH_TORCH_H_
