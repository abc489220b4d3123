#include <algorithm>
#include <bit>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/families.h"
#include "cost/kernels/row_kernel.h"
#include "cost/kernels/steps.h"

namespace stepcast::cost {
namespace {

// PyTorch keeps rows of up to so many columns in the registers of a warp.
constexpr int64_t kWarpColumns = 1024;
constexpr double kWarpThreads = 32;
// A thread of the looped kernel loads 16 bytes at a time.
constexpr double kVectorBytes = 16;
// Rows active may fill so much of L1 before rereads miss it.
constexpr double kSoftmaxL1Share = 0.9;
// The looped kernel waits for a maximum and a sum over the block.
constexpr double kLoopedLatencies = 2.5;
// CDNA's looped kernel takes twice the clocks: its wavefronts issue to 16-lane
// units, four clocks an instruction. MI100 and MI210.
constexpr double kCdnaCycles = 2;

// Threads of a block: half the vectors of a row. The kernel rounds to a power
// of two; without that, time grows evenly with the columns.
double LoopedThreads(double columns, double element_bytes) {
  const double vectors = columns * element_bytes / kVectorBytes;
  return std::clamp(vectors / 2, kWarpThreads, 512.0);
}

RowKernel Kernel(const ir::Softmax& op, const Machine& machine) {
  const bool backward = op.pass != ir::Pass::kForward;
  RowKernel kernel{.rows = static_cast<double>(op.rows),
                   .columns = static_cast<double>(op.columns),
                   .element_bytes = ElementBytes(op.dtype),
                   .tensors = backward ? 3.0 : 2.0,
                   .l1_share = kSoftmaxL1Share};
  if (op.columns <= kWarpColumns) {
    const double padded = static_cast<double>(
        std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(op.columns, 1))));
    kernel.threads = kWarpThreads;
    kernel.row_cycles = machine[Constant::kSoftmaxWarpRowCycles] +
                        machine[Constant::kSoftmaxWarpColumnCycles] * padded;
    return kernel;
  }
  kernel.threads = LoopedThreads(kernel.columns, kernel.element_bytes);
  // Forward: maximum, sum, result. Backward: a sum over two tensors, result.
  kernel.rereads = 2;
  kernel.row_cycles =
      (machine[Constant::kSoftmaxRowCycles] +
       machine[Constant::kSoftmaxColumnCycles] * kernel.columns) *
      (IsCdna(machine) ? kCdnaCycles : 1.0);
  kernel.latencies = kLoopedLatencies;
  return kernel;
}

}  // namespace

Base SoftmaxBase(const ir::KernelShape& shape, const Machine& machine) {
  return RowBase(Kernel(std::get<ir::Softmax>(shape), machine), machine);
}

void SoftmaxFeatures(const ir::KernelShape& shape, const Machine& machine,
                     const Base& base, FeatureVector& features) {
  const RowKernel kernel = Kernel(std::get<ir::Softmax>(shape), machine);
  AddRowFeatures(kernel, machine, base, features);
}

namespace {

// PyTorch's layer norm gives a row to four warps.
constexpr double kLayerThreads = 128;
// Rows active may fill so much of L1 before the second read misses it.
constexpr double kNormL1Share = 0.55;
// A mean and a variance over the block come before the result.
constexpr double kStatisticsSteps = 1.2;
// Group and batch norm give a long row to 16 warps.
constexpr double kLongThreads = 512;
// Bytes per clock that one block moves through its SM, which bounds batch norm
// of few channels. As for streams out of L2.
constexpr double kBlockBytesPerClock = 16.5;
// ATen's own batch norm, which AMD's GPUs run: a thread of a channel's block
// waits for one element after the other, 0.8 us each. MI300X, 64 to 512
// channels of 490 to 125440 elements. Its forward is three kernels.
constexpr double kCdnaElementsAUs = kLongThreads / 0.8;
constexpr double kCdnaForwardKernels = 3;

RowKernel LayerKernel(const ir::Normalization& op, const Machine& machine) {
  const bool backward = op.pass != ir::Pass::kForward;
  return {
      .rows = static_cast<double>(op.rows),
      .columns = static_cast<double>(op.columns),
      .element_bytes = ElementBytes(op.dtype),
      .threads = op.kind == ir::NormKind::kLayer ? kLayerThreads : kLongThreads,
      // Backward reads the gradient and the input, twice each.
      .tensors = backward ? 3.0 : 2.0,
      .rereads = backward ? 2.0 : 1.0,
      .row_cycles = machine[Constant::kNormRowCycles],
      .l1_share = kNormL1Share,
      .latencies = LatenciesWith(kStatisticsSteps, machine)};
}

// The gradients of weight and bias: both tensors once more, summed over rows.
Base WeightGradient(const ir::Normalization& op, const Machine& machine) {
  const double bytes = 2.0 * static_cast<double>(op.rows) *
                       static_cast<double>(op.columns) * ElementBytes(op.dtype);
  return StreamBase(
      {.bytes = bytes, .latencies = LatenciesWith(kStatisticsSteps, machine)},
      machine);
}

// One after the other.
Base Sum(const Base& first, const Base& second) {
  const bool longer = first.time_us >= second.time_us;
  return {.time_us = first.time_us + second.time_us,
          .compute_us = first.compute_us + second.compute_us,
          .memory_us = first.memory_us + second.memory_us,
          .roofline_us = std::max(first.roofline_us, second.roofline_us),
          .bound = longer ? first.bound : second.bound,
          .flops = first.flops + second.flops,
          .bytes = first.bytes + second.bytes};
}

Base LayerBase(const ir::Normalization& op, const Machine& machine) {
  if (op.pass == ir::Pass::kBackwardWeight) {
    return WeightGradient(op, machine);
  }
  const Base rows = RowBase(LayerKernel(op, machine), machine);
  return op.pass == ir::Pass::kBackward ? Sum(rows, WeightGradient(op, machine))
                                        : rows;
}

// How long one channel takes its block, and how many latencies come before.
struct Channel {
  double us = 0;
  double latencies = 0;
};

Channel ChannelOf(const ir::Normalization& op, double passes,
                  const Machine& machine) {
  const bool forward = op.pass == ir::Pass::kForward;
  const auto columns = static_cast<double>(op.columns);
  const double one_kernel = LatenciesWith(kStatisticsSteps, machine);
  if (IsCdna(machine)) {
    return {.us = (forward ? 1 : 2) * columns / kCdnaElementsAUs,
            .latencies = one_kernel + (forward ? kCdnaForwardKernels - 1 : 0)};
  }
  const double clocks =
      passes * columns * ElementBytes(op.dtype) / kBlockBytesPerClock;
  return {.us = clocks / (machine.device.clock_ghz * 1e3),
          .latencies = 2 * one_kernel};
}

// One block per channel, which reads it for the statistics and again for the
// result. Backward does the same with the gradient along with the input.
Base BatchBase(const ir::Normalization& op, const Machine& machine) {
  const double channels = static_cast<double>(op.rows);
  const double bytes =
      channels * static_cast<double>(op.columns) * ElementBytes(op.dtype);
  const double passes = op.pass == ir::Pass::kForward ? 3 : 5;
  const double tensors = op.pass == ir::Pass::kForward ? 2 : 3;
  const Channel channel = ChannelOf(op, passes, machine);
  // With fewer channels than SMs, the others idle.
  const double busy = std::min(channels, machine.sm_count());
  Base base = StreamBase({.bytes = passes * bytes,
                          .footprint = tensors * bytes,
                          .compute_us = channel.us * channels / busy,
                          .latencies = channel.latencies},
                         machine);
  base.roofline_us =
      StreamRooflineUs(tensors * bytes, tensors * bytes, machine);
  return base;
}

}  // namespace

Base NormalizationBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Normalization>(shape);
  return op.kind == ir::NormKind::kBatch ? BatchBase(op, machine)
                                         : LayerBase(op, machine);
}

void NormalizationFeatures(const ir::KernelShape& shape, const Machine& machine,
                           const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Normalization>(shape);
  AddRowFeatures(LayerKernel(op, machine), machine, base, features);
  features.Add(static_cast<double>(op.kind));
}

}  // namespace stepcast::cost
