#include "cost/kernels/lin2022_small_ops.h"

#include <algorithm>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/lin2022_peaks.h"

namespace stepcast::cost {
namespace {

// Share of DRAM's rate that concatenation reaches, as the authors fitted it.
constexpr double kConcatShare = 0.79;

// FLOP an element in their table.
constexpr double kSimpleFlop = 1;
constexpr double kTranscendentalFlop = 175;
constexpr double kPowerFlop = 180;
constexpr double kSoftmaxFlop = 174;
constexpr double kSoftmaxBackwardFlop = 2;

struct Work {
  double flop = 0;
  double bytes = 0;
};

Work WorkOf(const ir::Elementwise& op) {
  const auto elements = static_cast<double>(op.elements);
  const double flop = op.arithmetic == ir::Arithmetic::kPower ? kPowerFlop
                      : op.arithmetic == ir::Arithmetic::kTranscendental
                          ? kTranscendentalFlop
                          : kSimpleFlop;
  return {.flop = flop * elements,
          .bytes = static_cast<double>(op.read.count) +
                   static_cast<double>(op.written.count)};
}

Work WorkOf(const ir::Reduction& op) {
  const auto inputs = static_cast<double>(op.inputs);
  return {.flop = inputs, .bytes = inputs * ElementBytes(op.dtype)};
}

Work WorkOf(const ir::Softmax& op) {
  const double elements =
      static_cast<double>(op.rows) * static_cast<double>(op.columns);
  const bool forward = op.pass == ir::Pass::kForward;
  return {.flop = elements * (forward ? kSoftmaxFlop : kSoftmaxBackwardFlop),
          .bytes = elements * ElementBytes(op.dtype) * (forward ? 2 : 4)};
}

Work WorkOf(const ir::Pooling& op) {
  const auto outputs = static_cast<double>(op.outputs);
  const auto window = static_cast<double>(op.window);
  const bool forward = op.pass == ir::Pass::kForward;
  return {.flop = outputs * (forward ? window - 1 : 2 * window - 1),
          .bytes = 2 * outputs * ElementBytes(op.dtype)};
}

Work WorkOf(const ir::Transpose& op) {
  return {.bytes =
              2 * static_cast<double>(op.elements) * ElementBytes(op.dtype)};
}

Work WorkOf(const ir::Index& op) {
  const auto moved = static_cast<double>(op.elements);
  const auto source = static_cast<double>(op.source);
  const double width = ElementBytes(op.dtype);
  return op.scatter ? Work{.flop = moved, .bytes = (2 * source + moved) * width}
                    : Work{.bytes = (source + moved) * width};
}

// zero_, ones_like: two streams in their table, though one is enough.
Work WorkOf(const ir::Fill& op) {
  return {.bytes = 2 * static_cast<double>(op.bytes.count)};
}

// One kernel of three streams for every parameter.
Work WorkOf(const ir::OptimizerStep& op) {
  const auto elements = static_cast<double>(op.elements);
  return {.flop = elements, .bytes = 3 * elements * ElementBytes(op.dtype)};
}

template <typename Shape>
concept SmallOp = requires(const Shape& shape) {
  WorkOf(shape);
};

}  // namespace

std::optional<double> Lin2022RooflineUs(const ir::KernelShape& shape,
                                        const Machine& machine) {
  const Lin2022Peaks peaks = Lin2022PeaksOf(machine);
  return std::visit(
      [&peaks](const auto& op) -> std::optional<double> {
        if constexpr (SmallOp<std::decay_t<decltype(op)>>) {
          const Work work = WorkOf(op);
          return std::max(work.flop / peaks.flop_rate,
                          work.bytes / peaks.dram_rate);
        } else {
          return std::nullopt;
        }
      },
      shape);
}

double Lin2022ConcatUs(const ir::Concat& concat, const Machine& machine) {
  return 2 * static_cast<double>(concat.elements) * ElementBytes(concat.dtype) /
         (kConcatShare * Lin2022PeaksOf(machine).dram_rate);
}

double Lin2022MemcpyUs(const ir::Copy& copy, const Machine& machine) {
  const Lin2022Peaks peaks = Lin2022PeaksOf(machine);
  const auto bytes = static_cast<double>(copy.bytes.count);
  return copy.kind == ir::CopyKind::kDeviceToDevice
             ? 2 * bytes / peaks.dram_rate
             : bytes / peaks.pcie_rate;
}

std::optional<double> Lin2022SmallOpUs(const ir::KernelShape& shape,
                                       const Machine& machine) {
  if (const auto* concat = std::get_if<ir::Concat>(&shape)) {
    return Lin2022ConcatUs(*concat, machine);
  }
  if (const auto* copy = std::get_if<ir::Copy>(&shape)) {
    return Lin2022MemcpyUs(*copy, machine);
  }
  return Lin2022RooflineUs(shape, machine);
}

}  // namespace stepcast::cost
