#include "cost/kernels/fill.h"

#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/stream_features.h"

namespace stepcast::cost {
namespace {

// Nothing is read, so nothing is waited for: 1.1-1.4 us on H100 where an add
// takes 1.4-1.7; memsets 1 us on V100 where the smallest kernels take 2.
constexpr double kLatencies = 0.75;

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

void FillFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Fill>(shape);
  AddStreamFeatures(static_cast<double>(op.bytes.count), 1, machine, base,
                    features);
}

}  // namespace stepcast::cost
