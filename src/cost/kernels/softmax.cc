#include "cost/kernels/softmax.h"

#include <algorithm>
#include <bit>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/row_kernel.h"

namespace stepcast::cost {
namespace {

// PyTorch keeps rows of up to so many columns in the registers of a warp.
constexpr int64_t kWarpColumns = 1024;
constexpr double kWarpThreads = 32;
// A thread of the looped kernel loads 16 bytes at a time.
constexpr double kVectorBytes = 16;
// Rows at work may fill so much of L1 before rereads miss it.
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

}  // namespace stepcast::cost
