#include "hw/cpu_device.h"

#include <algorithm>

namespace stepcast::hw {
namespace {

// The share of the peaks that libraries reach where the software is not given:
// that of tuned BLAS and STREAM on servers. STREAM: 80 to 85 % of the channels.
constexpr double kGemmShare = 0.75;
constexpr double kBatchedShare = 0.35;
constexpr double kMatrixShare = 0.40;
constexpr double kCopyShare = 0.80;
// A loop over all threads of a warm pool: to wake them and to wait for the
// last.
constexpr double kTeamUs = 8;
// Clocks fall from one core's to all cores' as more are busy.
double ClockOf(const Node& node, double busy_cores) {
  const double all = std::max(node.cores() - 1, 1);
  const double busy = std::clamp((busy_cores - 1) / all, 0.0, 1.0);
  return node.turbo_ghz + busy * (node.vector_ghz - node.turbo_ghz);
}

}  // namespace

CpuShare WholeNode(const Node& node) {
  const double cores = node.cores();
  return {.cores = cores,
          .busy_cores = cores,
          .memory_share = 1,
          .cache_mb = node.cache_mb * node.sockets};
}

CpuShare OneSocket(const Node& node) {
  return {.cores = static_cast<double>(node.cores_per_socket),
          .busy_cores = static_cast<double>(node.cores()),
          .memory_share = 1.0 / node.sockets,
          .cache_mb = node.cache_mb};
}

CpuShare OneOf(const Node& node, int threads) {
  const double count = std::max(threads, 1);
  const double cores = node.cores();
  return {.cores = std::min(cores / count, 1.0),
          .busy_cores = std::min(count, cores),
          .memory_share = 1 / count,
          .cache_mb = node.cache_mb * node.sockets / count};
}

Device MakeCpuDevice(const Node& node, const CpuShare& share) {
  constexpr double kGflopsPerTflops = 1e3;
  Device device{.name = node.name,
                .chip = node.name,
                .generation = Generation::kCpu,
                .derived = node.derived};
  device.sm_count = share.cores;
  device.fp32_lanes_per_sm = node.fp32_flops_per_clock / 2;
  device.clock_ghz = ClockOf(node, share.busy_cores);
  const double clocks = share.cores * device.clock_ghz / kGflopsPerTflops;
  device.fp32_tflops = clocks * node.fp32_flops_per_clock;
  device.tf32_tflops = device.fp32_tflops;
  device.fp16_tflops = device.fp32_tflops;
  device.bf16_tflops = clocks * node.bf16_flops_per_clock;
  device.dram_gb = node.memory_gb * share.memory_share;
  device.dram_gbs = std::min(node.memory_gbs * share.memory_share,
                             share.cores * kCoreGbs / kCopyShare);
  device.l2_mb = share.cache_mb;
  device.core_gbs = kCoreGbs;
  device.pcie_gbs = kCoreGbs;  // What is copied, one core copies.
  device.tdp_w = node.power_w * share.memory_share;
  device.team_us = share.cores > 1 ? kTeamUs : 0;
  device.gemm_fp32_share = kGemmShare;
  device.bmm_fp32_share = kBatchedShare;
  device.conv_fp32_share = kBatchedShare;
  device.gemm_half_share = kMatrixShare;
  device.copy_share = kCopyShare;
  device.derived.emplace_back("copy_share: usual, not measured");
  return device;
}

}  // namespace stepcast::hw
