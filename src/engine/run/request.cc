#include "engine/run/request.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "hw/cpu_device.h"

namespace stepcast::engine {
namespace {

// The share of their rate that products keep where threads of one process span
// sockets, with operands in the memory of one of them. The best of four values
// on the published steps without GPUs; those of TorchScript and TensorFlow on
// two sockets decide (docs/models/cpu_device.md).
constexpr double kSpanShare = 0.3;

// A process that spans sockets reads and writes half of what it touches over
// their links; several processes stay on theirs.
void SpreadOverSockets(const hw::Node& host, hw::Device& device) {
  const double remote = 1 - 1.0 / host.sockets;
  const double links = host.sockets * host.socket_link_gbs;
  if (remote > 0 && links > 0) {
    device.gemm_fp32_share *= kSpanShare;
    device.bmm_fp32_share *= kSpanShare;
    device.gemm_half_share *= kSpanShare;
    const double local = device.dram_gbs;
    device.dram_gbs =
        1 / ((1 - remote) / local + remote / std::min(links, local));
  }
}

}  // namespace

bool AllInHbm(const model::Model& model) {
  return std::ranges::all_of(model.tables, [](const model::TableGroup& table) {
    return table.placement == model::Placement::kHbm;
  });
}

Result<Machine> ServerMachine(const Named<hw::Node>& server,
                              const CpuRuntime& runtime, int nodes) {
  const hw::Node& host = *server;
  // Whether each socket has a process of its own.
  const bool apart = runtime.per_socket && host.sockets > 1;
  hw::Device device = RuntimeDevice(runtime, host, apart);
  if (!apart && !runtime.one_thread) {
    SpreadOverSockets(host, device);
  }
  ASSIGN_OR_RETURN(
      hw::Cluster cluster,
      hw::MakeCluster(host, hw::MakeCpuDevice(host, hw::OneSocket(host)),
                      nodes * host.sockets, nodes));
  if (!apart) {
    cluster.gpus_per_node = 1;
    cluster.node.devices = 1;
    cluster.node.domain_devices = 1;
  }
  std::string name = fmt::format("server {} {}", server.name, runtime.name);
  return Machine{.gpu = host.name,
                 .device = MakeNamed(name, std::move(device)),
                 .cluster = MakeNamed(fmt::format("{} {}", name, nodes),
                                      std::move(cluster)),
                 .runtime = &runtime,
                 .ranks = nodes * (apart ? host.sockets : 1),
                 .nodes = nodes};
}

}  // namespace stepcast::engine
