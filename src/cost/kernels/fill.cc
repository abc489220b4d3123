#include "cost/kernels/fill.h"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/stream_features.h"

namespace stepcast::cost {
namespace {

// Nothing is read, so nothing is waited for: 1.1-1.4 us on H100 where an add
// takes 1.4-1.7.
constexpr double kLatencies = 0.75;
// The driver clears a few bytes without starting a kernel: 1.06-1.12 us on
// A100, 1 on V100 and RTX 2080 Ti, also where the recorder shows 2 or 3 us for
// the smallest kernels. From 4 kB on it takes 2 and more, like any fill. HIP's
// memsets are kernels.
constexpr double kSmallMemsetUs = 1.1;
constexpr int64_t kSmallMemsetBytes = 2048;

}  // namespace

Base FillBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Fill>(shape);
  const auto bytes = static_cast<double>(op.bytes.count);
  // What is written drives out what was written before, so that L2 does not
  // make small fills faster: V100 and H100, 1 to 180 MB.
  const double memory = bytes / machine.copy_rate();
  const double latency = kLatencies * LatencyUs(machine);
  return {.time_us = latency + memory,
          .memory_us = memory,
          .roofline_us = StreamRooflineUs(bytes, bytes, machine),
          .bound = latency > memory ? Bound::kLatency : Bound::kDram};
}

Base MemsetBase(const ir::Fill& fill, const Machine& machine) {
  Base base = FillBase(fill, machine);
  if (fill.bytes.count <= kSmallMemsetBytes && !IsCdna(machine)) {
    base.time_us = std::min(base.time_us, kSmallMemsetUs);
  }
  return base;
}

void FillFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Fill>(shape);
  AddStreamFeatures(static_cast<double>(op.bytes.count), 1, machine, base,
                    features);
}

}  // namespace stepcast::cost
