// TensorFlow's graphs: ops in the order the executor runs them, gradients in
// reverse, with or without XLA's fusion of pointwise ops.
#ifndef STEPCAST_MODEL_FRAMEWORKS_TENSORFLOW_TENSORFLOW_H_
#define STEPCAST_MODEL_FRAMEWORKS_TENSORFLOW_TENSORFLOW_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/frameworks/torch/torch.h"
#include "model/model.h"
#include "model/shapes.h"
#include "model/step_builder.h"

namespace stepcast::model {

struct TensorflowOptions {
  Types types{};
  bool train = true;
  bool xla = false;  // auto-jit of what can be fused.
  /// Without kernels of NVIDIA's: the interaction by TensorFlow's own ops.
  bool native = false;
  /// Ids by feature columns: hashed and made distinct, table by table.
  bool columns = false;
  Optimizer dense_optimizer = Optimizer::kSgd;
  Optimizer table_optimizer = Optimizer::kSgd;
};

/// Each function adds its forward ops to the step and keeps its gradient's.
class Tensorflow {
 public:
  Tensorflow(StepBuilder& step, const TensorflowOptions& options)
      : step_(step), options_(options) {}

  StepBuilder& step() { return step_; }
  const TensorflowOptions& options() const { return options_; }

  /// MatMul, BiasAdd, on demand Relu, and dropout above 0.
  Tensor Dense(const Tensor& x, int64_t out, bool relu, double dropout = 0);
  Tensor Mlp(Tensor x, std::span<const int64_t> widths, bool last_relu,
             double dropout = 0);
  Tensor Concat(std::span<const Tensor> parts);
  /// One table's vectors; of several ids per sample the mean. With a hook, the
  /// table is a parameter whose gradient is of all rows.
  Tensor Gather(const TableGroup& table, const LookupOptions& options);
  /// The vectors of tables stored in one matrix, one id per sample and table.
  Tensor GatherJoint(std::span<const TableGroup> tables,
                     const LookupOptions& options);
  /// Pairwise products of `vectors` in one kernel, next to the dense vector.
  Tensor Interact(const Tensor& x, int64_t vectors, int64_t width);
  /// x0 * (U (V x) + b) + x.
  Tensor Cross(const Tensor& x0, const Tensor& x, int64_t rank);
  /// One op on tensors of one size.
  Tensor Pointwise(std::string_view op, const Tensor& x, int64_t inputs);
  /// The sum of all columns of a sample.
  Tensor SumColumns(const Tensor& x);
  /// The mean loss of logits.
  void Loss(const Tensor& logits);

  void Backward();
  /// Updates of the dense parameters, one op each.
  void Optimize();

  /// An op with one kernel.
  void Op(std::string_view name, const ir::KernelShape& shape);
  void OnBackward(std::function<void()> gradient) {
    if (options_.train) {
      tape_.push_back(std::move(gradient));
    }
  }
  /// Calls `reduce` with the elements of every parameter's gradient: Horovod's.
  void SetGradientHook(std::function<void(int64_t)> reduce) {
    gradient_hook_ = std::move(reduce);
  }
  int64_t parameter_elements() const;

 private:
  void DenseBackward(const Tensor& x, int64_t out, bool relu, double dropout);
  void CastWeights(int64_t elements);
  void UpdateTable(const ir::EmbeddingBag& bag, int64_t table_elements);
  void HashColumn(int64_t ids);
  void InteractNatively(const ir::Interaction& dot);
  void SumTableGradient(const ir::EmbeddingBag& bag, int64_t table_elements);
  void GradientReady(int64_t elements);

  StepBuilder& step_;
  TensorflowOptions options_;
  std::vector<std::function<void()>> tape_;
  std::vector<int64_t> parameters_;
  std::function<void(int64_t)> gradient_hook_;
};

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_FRAMEWORKS_TENSORFLOW_TENSORFLOW_H_
