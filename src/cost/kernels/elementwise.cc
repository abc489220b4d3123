#include <algorithm>
#include <cmath>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/families.h"
#include "cost/kernels/steps.h"

namespace stepcast::cost {
namespace {

// Lane clocks per number: ten rounds of Philox for four, then the distribution.
// 2.06 M normals take 7.9 us on H100.
constexpr double kCost = 48;

}  // namespace

Base RandomBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Random>(shape);
  const double elements = static_cast<double>(op.elements);
  return StreamBase({.bytes = elements * ElementBytes(op.dtype),
                     .compute_us = LaneUs(elements, kCost, machine)},
                    machine);
}

namespace {

// Lane clocks per element, by what is computed, including its share of the
// addressing. Fitted on fp32 rows of P4 to A100, MI100 and MI210.
constexpr double kPlainCost = 2;
constexpr double kDivisionCost = 12;
constexpr double kTranscendentalCost = 25;
constexpr double kPowerCost = 45;
// CDNA computes powers in many more steps: 59-67 G elements/s on MI100 and
// MI210.
constexpr double kCdnaPowerCost = 180;
// 16-bit values are converted to FP32 and back: 20 lane clocks in all fit plain
// bf16 kernels of H100 (828 G elements/s out of L2) and A40 (450 G).
constexpr double kConversionCost = 20;
// Where an input is broadcast, every element's address is worked out on its
// own: 330-350 G elements/s on H100, whatever their width.
constexpr double kBroadcastCost = 48;
// The same on CDNA: 560-650 G elements/s on MI300X; and its special functions
// on 16-bit values, 700 G.
constexpr double kCdnaBroadcastCost = 66;
constexpr double kCdnaNarrowTranscendentalCost = 58;
// Such an address comes before the load: H100 and V100, 2 kB to 4 MB.
constexpr double kBroadcastSteps = 0.3;
// Arithmetic is hidden well behind the streams.
constexpr double kElementwiseOverlap = 6;

bool IsNarrow(ir::DType dtype) {
  return dtype == ir::DType::kFp16 || dtype == ir::DType::kBf16 ||
         dtype == ir::DType::kFp8;
}

// Whole tensors are read: so many bytes for every element.
bool IsBroadcast(const ir::Elementwise& op) {
  return op.elements > 0 && op.read.count % op.elements != 0;
}

double ArithmeticCost(const ir::Elementwise& op, const Machine& machine) {
  switch (op.arithmetic) {
    case ir::Arithmetic::kDivision:
      return kDivisionCost;
    case ir::Arithmetic::kTranscendental:
      return IsCdna(machine) && IsNarrow(op.dtype)
                 ? kCdnaNarrowTranscendentalCost
                 : kTranscendentalCost;
    case ir::Arithmetic::kPower:
      return IsCdna(machine) ? kCdnaPowerCost : kPowerCost;
    case ir::Arithmetic::kPlain:
      break;
  }
  return kPlainCost;
}

double ElementCost(const ir::Elementwise& op, const Machine& machine) {
  const double arithmetic = ArithmeticCost(op, machine);
  if (IsBroadcast(op)) {
    return std::max(arithmetic,
                    IsCdna(machine) ? kCdnaBroadcastCost : kBroadcastCost);
  }
  return std::max(arithmetic, IsNarrow(op.dtype) ? kConversionCost : 0.0);
}

double MovedBytes(const ir::Elementwise& op) {
  return static_cast<double>(op.read.count) +
         static_cast<double>(op.written.count);
}

// Everything that passes through L2 where an input is read across its layout:
// one sector per element.
double ScatteredBytes(const ir::Elementwise& op) {
  return MovedBytes(op) + static_cast<double>(op.elements) *
                              (kSectorBytes - ElementBytes(op.dtype));
}

}  // namespace

Base ElementwiseBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Elementwise>(shape);
  const double elements = static_cast<double>(op.elements);
  const double lanes = LaneUs(elements, ElementCost(op, machine), machine);
  const double sectors = op.scattered ? L2Us(ScatteredBytes(op), machine) : 0;
  return StreamBase({.bytes = MovedBytes(op),
                     .compute_us = std::max(lanes, sectors),
                     .latencies = LatenciesWith(
                         IsBroadcast(op) ? kBroadcastSteps : 0, machine),
                     .power = kElementwiseOverlap},
                    machine);
}

void ElementwiseFeatures(const ir::KernelShape& shape, const Machine& machine,
                         const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Elementwise>(shape);
  const double elements =
      static_cast<double>(std::max<int64_t>(op.elements, 1));
  const double width = ElementBytes(op.dtype);
  features.AddLog(elements / machine.sm_count());
  features.AddLog(MovedBytes(op) / machine.l2_bytes());
  // Tensors read, and how many of the element's width are written.
  features.Add(static_cast<double>(op.read.count) / (elements * width));
  features.Add(static_cast<double>(op.written.count) / (elements * width));
  features.Add(static_cast<double>(op.arithmetic));
  features.AddLog(base.memory_us / std::max(base.compute_us, 1e-6));
  features.AddLog(base.memory_us / LatencyUs(machine));
  features.Add(op.elements % 4 == 0 ? 1 : 0);  // Vector loads without a rest.
  features.Add(width);
}

}  // namespace stepcast::cost
