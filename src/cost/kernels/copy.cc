#include <algorithm>
#include <cstdint>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/families.h"
#include "cost/kernels/steps.h"

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
          .bound = latency > memory ? Bound::kLatency : Bound::kDram,
          .bytes = bytes};
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

namespace {

// Lane clocks per element for turning an index into two addresses, whatever its
// width: 175 strided copies of 16-bit tensors on H100 (350-400 G elements/s)
// and 90 on MI300X (600-850).
constexpr double kAddressCost = 45;
// What a lone element costs between L2 and an SM, where it is not kSectorBytes.
constexpr double kCdnaSectorBytes = 64;

}  // namespace

Base TransposeBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& op = std::get<ir::Transpose>(shape);
  const auto elements = static_cast<double>(op.elements);
  const double width = ElementBytes(op.dtype);
  const double lanes = LaneUs(elements, kAddressCost, machine);
  double sectors = 0;
  if (op.run > 0) {
    // Neighbours in the output are apart in the input: a sector for every run,
    // out of L2, which keeps the rest of it until its turn comes.
    const double sector = IsCdna(machine) ? kCdnaSectorBytes : kSectorBytes;
    const double read = std::max(width, sector / static_cast<double>(op.run));
    sectors = L2Us(elements * (read + width), machine);
  }
  Base base = StreamBase(
      {.bytes = 2 * elements * width, .compute_us = std::max(lanes, sectors)},
      machine);
  if (base.bound == Bound::kCompute && sectors > lanes) {
    base.bound = Bound::kL2;
  }
  return base;
}

void TransposeFeatures(const ir::KernelShape& shape, const Machine& machine,
                       const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Transpose>(shape);
  AddStreamFeatures(static_cast<double>(op.elements), ElementBytes(op.dtype),
                    machine, base, features);
  features.AddLog(static_cast<double>(op.run));
}

namespace {

// Share of what plain streams sustain: the blocks of every tensor write far
// apart. V100, cats of 57 to 290 MB.
constexpr double kConcatStreamShare = 0.85;
// Lane clocks per element for the position in the input and in the output: cats
// of 16-bit tensors on H100 and MI300X, which are not bound by memory.
constexpr double kConcatLaneClocks = 64;
// The list of tensors is read first.
constexpr double kListSteps = 0.3;

}  // namespace

Base ConcatBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& concat = std::get<ir::Concat>(shape);
  const auto elements = static_cast<double>(concat.elements);
  const double bytes = 2 * elements * ElementBytes(concat.dtype);
  Base base =
      StreamBase({.bytes = bytes / kConcatStreamShare,
                  .footprint = bytes,
                  .compute_us = LaneUs(elements, kConcatLaneClocks, machine),
                  .latencies = LatenciesWith(kListSteps, machine)},
                 machine);
  base.roofline_us = StreamRooflineUs(bytes, bytes, machine);
  return base;
}

void ConcatFeatures(const ir::KernelShape& shape, const Machine& machine,
                    const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Concat>(shape);
  AddStreamFeatures(static_cast<double>(op.elements), ElementBytes(op.dtype),
                    machine, base, features);
  features.AddLog(static_cast<double>(op.tensors));
}

namespace {

// Copies on the device, 67 sizes on V100, A100, H100 and 2080 Ti: a copy starts
// a little faster than a kernel, takes the wide path from some kilobytes on,
// and sustains a smaller share of DRAM's datasheet rate than kernels, whose
// ceiling does not change it. Nothing is found in L2: what is copied was
// written long before.
constexpr double kDeviceLatency = 0.9;  // In units of LatencyUs.
constexpr double kWidePathUs = 0.6;
constexpr double kWidePathBytes = 8192;
constexpr double kDeviceShare = 0.82;
// ROCm copies with a kernel after a barrier: MI300X, up to 4 MB.
constexpr double kCdnaDeviceUs = 4.3;

// From and to the host. The first bytes: H100, B200, A100 and 2080 Ti agree on
// both; a transfer from the device ends with a notice to the host. MI300X.
constexpr double kToDeviceUs = 0.9;
constexpr double kToHostUs = 2.4;
constexpr double kCdnaHostUs = 3.5;
// Share of PCIe's rate after encoding that pinned memory sees: 12.4 of 15.75
// GB/s on V100, the rest being packet headers.
constexpr double kPinnedShare = 0.79;
// Pageable memory goes through a staging buffer, as fast as one thread of the
// host copies, in bytes per microsecond: 5-8 GB/s on hosts of A100, 12 on those
// of V100; 18-23 with H100, whose hosts have PCIe 5; 32-47 with MI300X.
constexpr double kStagingRate = 10e3;
constexpr double kNewHostStagingRate = 20e3;
constexpr double kCdnaStagingRate = 35e3;
constexpr double kNewHostPcieGbs = 60;
// What the host's caches do not hold is read from its memory first, which takes
// as long again: 8 GB/s for 93 kB, 6.6 for 3.5 MB, 5.1 for 151 MB on a host of
// A100, 3.5 for 77 MB on one of 2080 Ti.
constexpr double kHostCacheBytes = 16e6;
constexpr double kNewHostCacheBytes = 100e6;
// Share of a link's one-way rate that copies between devices sustain (NCCL's
// own share of NVLink is like it).
constexpr double kPeerShare = 0.8;

// Of `bytes` in pageable memory.
double StagingRate(double bytes, const Machine& machine) {
  const bool new_host =
      IsCdna(machine) || machine.device.pcie_gbs > kNewHostPcieGbs;
  const double cache = new_host ? kNewHostCacheBytes : kHostCacheBytes;
  const double rate = IsCdna(machine) ? kCdnaStagingRate
                      : new_host      ? kNewHostStagingRate
                                      : kStagingRate;
  return rate / (1 + bytes / (bytes + cache));
}

Base DeviceCopy(double bytes, const Machine& machine) {
  const double traffic = 2 * bytes;
  const double rate = machine.peak_dram_rate() *
                      std::min(kDeviceShare, machine.device.copy_share);
  const double latency =
      IsCdna(machine) ? kCdnaDeviceUs
                      : kDeviceLatency * LatencyUs(machine) +
                            kWidePathUs * bytes / (bytes + kWidePathBytes);
  const double memory = traffic / rate;
  return {.time_us = latency + memory,
          .memory_us = memory,
          .roofline_us = traffic / machine.peak_dram_rate(),
          .bound = latency > memory ? Bound::kLatency : Bound::kDram,
          .bytes = traffic};
}

// `rate` sustained and `peak` at best, in bytes per microsecond.
Base LinkCopy(double bytes, double latency, double rate, double peak) {
  const double time = bytes / rate;
  return {.time_us = latency + time,
          .memory_us = time,
          .roofline_us = bytes / peak,
          .bound = latency > time ? Bound::kLatency : Bound::kLink,
          .bytes = bytes};
}

}  // namespace

Base CopyBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& copy = std::get<ir::Copy>(shape);
  const auto bytes = static_cast<double>(copy.bytes.count);
  const double pcie = machine.device.pcie_gbs * 1e3;
  switch (copy.kind) {
    case ir::CopyKind::kUnknown:
    case ir::CopyKind::kDeviceToDevice:
      return DeviceCopy(bytes, machine);
    case ir::CopyKind::kPeerToPeer: {
      // NVLink is published as the sum of both directions.
      const double link = std::max(machine.device.nvlink_gbs * 1e3 / 2, pcie);
      return LinkCopy(bytes, LatencyUs(machine), kPeerShare * link, link);
    }
    case ir::CopyKind::kHostToHost:
      return LinkCopy(bytes, kToDeviceUs, StagingRate(bytes, machine),
                      StagingRate(bytes, machine));
    case ir::CopyKind::kHostToDevice:
    case ir::CopyKind::kDeviceToHost:
      break;
  }
  const double pinned = kPinnedShare * pcie;
  const double rate =
      copy.pinned ? pinned : std::min(pinned, StagingRate(bytes, machine));
  const bool to_device = copy.kind == ir::CopyKind::kHostToDevice;
  const double latency = IsCdna(machine) ? kCdnaHostUs
                         : to_device     ? kToDeviceUs
                                         : kToHostUs;
  return LinkCopy(bytes, latency, rate, pcie);
}

void CopyFeatures(const ir::KernelShape& shape, const Machine& machine,
                  const Base& base, FeatureVector& features) {
  const auto& op = std::get<ir::Copy>(shape);
  AddStreamFeatures(static_cast<double>(op.bytes.count), 1, machine, base,
                    features);
  features.Add(static_cast<double>(op.kind));
  features.Add(op.pinned ? 1 : 0);
}

}  // namespace stepcast::cost
