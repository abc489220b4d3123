// The kernels of the authors' traces with shapes, which most rows do not have:
// the layers of the model tell them.
#ifndef STEPCAST_LEARN_MEASURED_AUTHORS_KERNELS_H_
#define STEPCAST_LEARN_MEASURED_AUTHORS_KERNELS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/shape.h"
#include "learn/measured/authors_trace.h"

namespace stepcast::learn {

// The kernels that the authors' models are made of, as shapes.

struct Layer {
  int64_t in = 0;
  int64_t out = 0;
};

/// What one sample's interaction and all layers come to.
class AuthorsShapes {
 public:
  explicit AuthorsShapes(const AuthorsModel& model);

  /// From the bottom's first to the top's last.
  const std::vector<Layer>& layers() const { return layers_; }

  // Copies, in bytes.
  int64_t IdBytes() const;          // Of the lookups.
  int64_t OffsetBytes() const;      // Of the bags.
  int64_t DenseBytes() const;       // Features of a batch.
  int64_t TargetBytes() const;      // One number per sample.
  int64_t TriangleIdBytes() const;  // One of the two lists of positions.
  int64_t SquareBytes() const;      // All products of the interaction.

  // Layers.
  ir::KernelShape BiasCopy(const Layer& layer) const;
  ir::KernelShape Forward(const Layer& layer) const;
  ir::KernelShape DataGradient(const Layer& layer) const;
  ir::KernelShape WeightGradient(const Layer& layer) const;
  ir::KernelShape BiasGradient(const Layer& layer) const;
  /// `inputs` tensors of the layer's result into one.
  ir::KernelShape OnOutput(const Layer& layer, int64_t inputs) const;
  /// `inputs` tensors of `per_sample` numbers per sample into one.
  ir::KernelShape PerSample(int64_t per_sample, int64_t inputs) const;
  ir::KernelShape LossSum() const;

  /// One kernel for every weight and every bias.
  std::vector<ir::KernelShape> ParameterZeros() const;
  std::vector<ir::KernelShape> ParameterUpdates() const;

  // Embedding tables.
  ir::KernelShape Lookup(ir::Pass pass) const;

  // Interaction.
  ir::KernelShape FeatureConcat() const;
  ir::KernelShape TopConcat() const;
  ir::KernelShape Products() const;
  std::vector<ir::KernelShape> ProductGradients() const;
  ir::KernelShape Triangle(ir::Pass pass) const;
  /// A copy of the triangle's gradient with the samples innermost.
  ir::KernelShape TriangleTranspose() const;
  ir::KernelShape OnTriangleIds() const;
  ir::KernelShape TriangleSort() const;
  ir::KernelShape FeatureGradientSum() const;
  ir::KernelShape DenseGradientSum() const;

 private:
  ir::Gemm Batched(int64_t m, int64_t n, int64_t k) const;

  AuthorsModel model_;
  std::vector<Layer> layers_;
  int64_t tables_ = 0;
  int64_t features_ = 0;  // Vectors of a sample: tables and dense ones.
  int64_t pairs_ = 0;     // Products of a sample that are kept.
};

/// `inputs` FP32 tensors of `elements` into one.
ir::KernelShape Stream(int64_t elements, int64_t inputs);
ir::KernelShape Zeros(int64_t elements);

/// Kernels of one op that were timed together.
struct TracedKernels {
  int64_t iteration = 0;
  std::string op;
  std::vector<ir::KernelShape> shapes;
  double time_us = 0;  // Sum over them.
};

/// The kernels of a trace in order. An op that DLRM does not have is an error,
/// as is one layer too many.
Result<std::vector<TracedKernels>> KernelsOf(std::span<const AuthorsRow> rows,
                                             const AuthorsModel& model);

// How long the smallest kernels of a trace take, as its recorder sees them.

/// The median time of single elementwise kernels on a few kilobytes, which take
/// the latency of a kernel as this trace's recorder sees it: 1 us in one trace
/// of the same kernels, 3 us in the others. 0 if there are none.
double SmallestKernelUs(std::span<const TracedKernels> kernels);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_MEASURED_AUTHORS_KERNELS_H_
