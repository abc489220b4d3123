#include "cost/kernels/copy.h"

#include <algorithm>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/stream_features.h"

namespace stepcast::cost {
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
// ROCm copies with a kernel behind a barrier: MI300X, up to 4 MB.
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
// host copies, in bytes a microsecond: 5-8 GB/s beside A100, 12 beside V100;
// 18-23 beside H100, whose hosts have PCIe 5; 32-47 beside MI300X.
constexpr double kStagingRate = 10e3;
constexpr double kNewHostStagingRate = 20e3;
constexpr double kCdnaStagingRate = 35e3;
constexpr double kNewHostPcieGbs = 60;
// What the host's caches do not hold is read from its memory first, which takes
// as long again: 8 GB/s for 93 kB, 6.6 for 3.5 MB, 5.1 for 151 MB beside A100,
// 3.5 for 77 MB beside 2080 Ti.
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
          .bound = latency > memory ? Bound::kLatency : Bound::kDram};
}

// `rate` sustained and `peak` at best, in bytes a microsecond.
Base LinkCopy(double bytes, double latency, double rate, double peak) {
  const double time = bytes / rate;
  return {.time_us = latency + time,
          .memory_us = time,
          .roofline_us = bytes / peak,
          .bound = latency > time ? Bound::kLatency : Bound::kLink};
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
