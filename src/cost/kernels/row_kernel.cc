#include "cost/kernels/row_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cost/kernels/bandwidth.h"

namespace stepcast::cost {
namespace {

// Traffic and the SMs' work overlap less well than in plain streams.
constexpr double kRowOverlap = 3;
// How sharply rereads go to memory once the rows active outgrow L1. Layer norm
// of V100, T4 and P4 goes from one read to two between 1000 and 1500 columns.
constexpr double kL1Sharpness = 4;
// Blocks an SM holds at most, whatever their size.
constexpr double kMostBlocks = 32;
// CDNA's vector caches; its shared memory is apart from them.
constexpr double kCdnaL1Bytes = 16384;

double ThreadsPerSm(const hw::Device& device) {
  using enum hw::Generation;
  const bool graphics = device.generation == kAda || device.chip == "GA102" ||
                        device.chip == "GB202";
  if (device.generation == kTuring) {
    return 1024;
  }
  return graphics ? 1536 : 2048;
}

double L1Bytes(const hw::Device& device) {
  return device.generation == hw::Generation::kCdna
             ? kCdnaL1Bytes
             : device.smem_per_sm_kb * 1024;
}

double BlocksPerSm(const RowKernel& kernel, const Machine& machine) {
  return std::min(ThreadsPerSm(machine.device) / kernel.threads, kMostBlocks);
}

// Rows active on one SM against its L1.
double L1Filled(const RowKernel& kernel, const Machine& machine) {
  return BlocksPerSm(kernel, machine) * kernel.columns * kernel.element_bytes /
         L1Bytes(machine.device);
}

double OnceBytes(const RowKernel& kernel) {
  return kernel.tensors * kernel.rows * kernel.columns * kernel.element_bytes;
}

}  // namespace

Base RowBase(const RowKernel& kernel, const Machine& machine) {
  const double once = OnceBytes(kernel);
  const double filled = L1Filled(kernel, machine) / kernel.l1_share;
  const double missed = 1.0 - 1.0 / (1.0 + std::pow(filled, kL1Sharpness));
  const double again = once / kernel.tensors * kernel.rereads * missed;
  const double cycles = kernel.rows * kernel.row_cycles / machine.sm_count();
  Base base =
      StreamBase({.bytes = once + again,
                  .footprint = once,
                  .compute_us = cycles / (machine.device.clock_ghz * 1e3),
                  .latencies = kernel.latencies,
                  .power = kRowOverlap},
                 machine);
  base.roofline_us = StreamRooflineUs(once, once, machine);
  return base;
}

void AddRowFeatures(const RowKernel& kernel, const Machine& machine,
                    const Base& base, FeatureVector& features) {
  const auto columns = static_cast<uint64_t>(kernel.columns);
  const double padded = static_cast<double>(std::bit_ceil(columns));
  const double waves =
      kernel.rows / (BlocksPerSm(kernel, machine) * machine.sm_count());
  features.AddLog(kernel.rows / machine.sm_count());
  features.AddLog(kernel.columns);
  features.AddLog(padded / kernel.columns);
  features.AddLog(OnceBytes(kernel) / machine.l2_bytes());
  features.AddLog(waves);
  features.Add(std::ceil(waves) / waves);
  features.AddLog(L1Filled(kernel, machine));
  features.AddLog(base.memory_us / base.compute_us);
  features.AddLog(base.memory_us / LatencyUs(machine));
  features.Add(static_cast<double>(columns % 4));  // Vector loads or not.
  features.Add(kernel.element_bytes);
  features.Add(kernel.tensors);
}

}  // namespace stepcast::cost
