#include "hw/host.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace stepcast::hw {
namespace {

// Two units of eight lanes, a socket's usual cache a core and watts a core, for
// figures that nobody published.
constexpr double kCacheMbPerCore = 1.375;
constexpr double kWattsPerCore = 6;
// A server takes so many times what its processors do: memory, fans, adapters
// and the power supply's loss. The dual-socket server of Acun et al. (480 W by
// their ratio to Big Basin, from memory) is 1.9 of 2 x 125 W; TDPs of 200 W
// and more, with the same memory and fans, come to less.
constexpr double kServerOverProcessors = 1.5;
// Of one core that runs alone over the base clock, where nobody says.
constexpr double kTurboOverBase = 1.5;
// What a core has outstanding: 12 lines of 64 bytes for 90 ns (line fill
// buffers of Skylake and later; latency of DDR4 and DDR5 servers).
constexpr double kCoreGbs = 12 * 64 / 90.0;
// What libraries reach of the peaks where nothing is said of the software: as
// tuned BLAS and STREAM on servers. STREAM: 80 to 85 % of the channels.
constexpr double kGemmShare = 0.75;
constexpr double kBatchedShare = 0.35;
constexpr double kMatrixShare = 0.40;
constexpr double kCopyShare = 0.80;
// A loop over all threads of a warm pool: to wake them and to wait for the
// last.
constexpr double kTeamUs = 8;
// Adapters between CPU servers are Ethernet's unless said otherwise.
constexpr double kUsualNicGbs = 3.125;

double ValueOr(const std::optional<Figure>& figure, double usual,
               std::string_view note, Host& host) {
  if (figure) {
    return figure->value;
  }
  host.derived.emplace_back(note);
  return usual;
}

// Clocks fall from one core's to all cores' as more are busy.
double ClockOf(const Host& host, double busy_cores) {
  const double all = std::max(host.cores() - 1, 1);
  const double busy = std::clamp((busy_cores - 1) / all, 0.0, 1.0);
  return host.turbo_ghz + busy * (host.vector_ghz - host.turbo_ghz);
}

}  // namespace

Host MakeHost(const Server& server) {
  Host host{
      .name = server.name,
      .title = server.title,
      .sockets = static_cast<int>(server.sockets->value),
      .cores_per_socket = static_cast<int>(server.cores_per_socket->value),
      .fp32_flops_per_clock = server.fp32_flops_per_clock->value,
      .memory_gb = server.memory_gb->value,
      .memory_gbs = server.memory_gbs->value};
  const double base = server.base_ghz->value;
  host.vector_ghz =
      ValueOr(server.vector_ghz, base, "vector_ghz: the base clock", host);
  host.turbo_ghz = std::max(
      host.vector_ghz,
      ValueOr(server.turbo_ghz, kTurboOverBase * base,
              fmt::format("turbo_ghz: {} of the base clock", kTurboOverBase),
              host));
  host.bf16_flops_per_clock =
      ValueOr(server.bf16_flops_per_clock, host.fp32_flops_per_clock,
              "bf16_flops_per_clock: no such unit, as FP32", host);
  host.cache_mb =
      ValueOr(server.cache_mb, kCacheMbPerCore * host.cores_per_socket,
              fmt::format("cache_mb: {} a core", kCacheMbPerCore), host);
  if (host.sockets > 1) {
    host.socket_link_gbs =
        ValueOr(server.socket_link_gbs, host.memory_gbs / host.sockets / 3,
                "socket_link_gbs: a third of a socket's memory", host);
  }
  host.nic_gbs =
      ValueOr(server.nic_gbs, kUsualNicGbs, "nic_gbs: 25 Gb/s", host);
  const double processors =
      host.sockets *
      ValueOr(server.tdp_w, kWattsPerCore * host.cores_per_socket,
              fmt::format("tdp_w: {} W a core", kWattsPerCore), host);
  host.power_w = ValueOr(server.power_w, kServerOverProcessors * processors,
                         fmt::format("power_w: {} times its processors' TDP",
                                     kServerOverProcessors),
                         host);
  if (server.price_usd) {
    host.price_usd = server.price_usd->value;
  }
  return host;
}

HostPart WholeHost(const Host& host) {
  const double cores = host.cores();
  return {.cores = cores,
          .busy_cores = cores,
          .memory_share = 1,
          .cache_mb = host.cache_mb * host.sockets};
}

HostPart OneSocket(const Host& host) {
  return {.cores = static_cast<double>(host.cores_per_socket),
          .busy_cores = static_cast<double>(host.cores()),
          .memory_share = 1.0 / host.sockets,
          .cache_mb = host.cache_mb};
}

HostPart OneOf(const Host& host, int threads) {
  const double count = std::max(threads, 1);
  const double cores = host.cores();
  return {.cores = std::min(cores / count, 1.0),
          .busy_cores = std::min(count, cores),
          .memory_share = 1 / count,
          .cache_mb = host.cache_mb * host.sockets / count};
}

Device MakeHostDevice(const Host& host, const HostPart& part) {
  constexpr double kGflopsPerTflops = 1e3;
  Device device{.name = host.name,
                .chip = host.name,
                .generation = Generation::kCpu,
                .derived = host.derived};
  device.sm_count = part.cores;
  device.fp32_lanes_per_sm = host.fp32_flops_per_clock / 2;
  device.clock_ghz = ClockOf(host, part.busy_cores);
  const double clocks = part.cores * device.clock_ghz / kGflopsPerTflops;
  device.fp32_tflops = clocks * host.fp32_flops_per_clock;
  device.tf32_tflops = device.fp32_tflops;
  device.fp16_tflops = device.fp32_tflops;
  device.bf16_tflops = clocks * host.bf16_flops_per_clock;
  device.dram_gb = host.memory_gb * part.memory_share;
  device.dram_gbs = std::min(host.memory_gbs * part.memory_share,
                             part.cores * kCoreGbs / kCopyShare);
  device.l2_mb = part.cache_mb;
  device.core_gbs = kCoreGbs;
  device.pcie_gbs = kCoreGbs;  // What is copied, one core copies.
  device.tdp_w = host.power_w * part.memory_share;
  device.team_us = part.cores > 1 ? kTeamUs : 0;
  device.gemm_fp32_share = kGemmShare;
  device.bmm_fp32_share = kBatchedShare;
  device.conv_fp32_share = kBatchedShare;
  device.gemm_half_share = kMatrixShare;
  device.copy_share = kCopyShare;
  device.derived.emplace_back("copy_share: usual, not measured");
  return device;
}

Result<Cluster> MakeHostCluster(const Host& host, int nodes) {
  if (nodes > 1 && host.nic_gbs <= 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no known network, so {} nodes cannot be "
                            "joined; add 'nic_gbs' to its file",
                            host.name, nodes));
  }
  Cluster cluster;
  cluster.platform = host.name;
  cluster.device = MakeHostDevice(host, OneSocket(host));
  cluster.nodes = nodes;
  cluster.gpus_per_node = host.sockets;
  cluster.node_gpus = host.sockets;
  cluster.layout = LinkLayout::kSwitch;
  // A process per socket exchanges through memory that both see: every byte is
  // read by a core of one, over the link, and written for the other.
  cluster.link_gbs =
      std::min(host.sockets > 1 ? host.socket_link_gbs : host.memory_gbs,
               kExchangeCores * kCoreGbs / 2);
  cluster.pcie_gbs = std::max(host.nic_gbs, cluster.link_gbs);
  cluster.nics = 1;
  cluster.nic_gbs = host.nic_gbs;
  cluster.host_memory_gb = host.memory_gb;
  cluster.host_memory_gbs = host.memory_gbs;
  cluster.power_w = nodes * host.power_w;
  if (host.price_usd) {
    cluster.price_usd = nodes * *host.price_usd;
  }
  cluster.derived = host.derived;
  return cluster;
}

}  // namespace stepcast::hw
