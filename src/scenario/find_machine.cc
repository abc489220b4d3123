#include "scenario/find_machine.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "engine/run/cpu_runtime.h"
#include "hw/cluster.h"
#include "hw/device.h"
#include "hw/node.h"
#include "model/frameworks/implementations.h"

namespace stepcast::scenario {
namespace {

// A server as the maker of its GPUs designed it (NVIDIA's DGX and HGX) stands
// for the many that follow the design; others are one company's own.
bool IsReference(const hw::Node& platform) {
  return platform.name.starts_with("dgx-") || platform.name.starts_with("hgx-");
}

// Which of two that have the GPU is taken if none was named: the smaller, then
// the reference design, then the first by name.
bool IsMoreUsual(const hw::Node& a, const hw::Node& b) {
  return std::make_tuple(a.domain_devices, !IsReference(a),
                         std::string_view(a.name)) <
         std::make_tuple(b.domain_devices, !IsReference(b),
                         std::string_view(b.name));
}

// The platform that was named, or the most usual that has the GPU; empty for
// one GPU of no server in particular.
Result<std::string> PlatformOf(const MachineNames& names, bool needs_host) {
  const bool alone = names.gpus <= 1;
  if (!names.platform.empty() || (alone && !needs_host)) {
    return names.platform;
  }
  ASSIGN_OR_RETURN(const std::vector<hw::Node> platforms, hw::LoadPlatforms());
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(names.gpu));
  const std::string name = device.name.substr(0, device.name.find('@'));
  const int on_node = (names.gpus + names.nodes - 1) / std::max(names.nodes, 1);
  const hw::Node* best = nullptr;
  for (const hw::Node& platform : platforms) {
    if (platform.gpu == name && platform.domain_devices >= on_node &&
        (best == nullptr || IsMoreUsual(platform, *best))) {
      best = &platform;
    }
  }
  if (best == nullptr && !alone) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("no built-in platform has {} {} on a node; "
                            "expected --platform NAME or --nodes N",
                            on_node, device.name));
  }
  return best == nullptr ? std::string() : best->name;
}

Result<engine::Machine> FindServers(const MachineNames& names,
                                    const model::Implementation& impl) {
  if (names.gpus > 1 || !names.platform.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "a server has no GPUs; expected --server or --platform and "
                "--gpus, not both");
  }
  ASSIGN_OR_RETURN(hw::Node node, hw::FindServer(names.server));
  ASSIGN_OR_RETURN(
      const engine::CpuRuntime* const runtime,
      engine::FindCpuRuntime(names.runtime.empty()
                                 ? impl.cpu_runtime
                                 : std::string_view(names.runtime)));
  return engine::ServerMachine(MakeNamed(names.server, std::move(node)),
                               *runtime, names.nodes);
}

std::string ClusterName(std::string_view platform, int gpus, int nodes) {
  return fmt::format("{} {} {}", platform, gpus, nodes);
}

// The smallest platform whose GPUs have the chip; empty: none has so many.
Result<std::string> SmallestWith(std::string_view chip, int gpus) {
  ASSIGN_OR_RETURN(const std::vector<hw::Node> platforms, hw::LoadPlatforms());
  const hw::Node* best = nullptr;
  for (const hw::Node& platform : platforms) {
    const bool same_chip =
        hw::FindDevice(platform.gpu)
            .map([&](const hw::Device& other) { return other.chip == chip; })
            .value_or(false);
    if (same_chip && platform.domain_devices >= gpus &&
        (best == nullptr || platform.domain_devices < best->domain_devices)) {
      best = &platform;
    }
  }
  return best == nullptr ? std::string() : best->name;
}

// The ranks of the largest collective.
int LargestGroup(const ir::GraphData& data) {
  int64_t largest = 0;
  for (const ir::KernelShape& shape : data.shapes) {
    if (const auto* const collective = std::get_if<ir::Collective>(&shape)) {
      largest = std::max(largest, int64_t{collective->group_size});
    }
  }
  return static_cast<int>(largest);
}

}  // namespace

Result<engine::Machine> FindMachine(const MachineNames& names,
                                    const model::Implementation& impl,
                                    bool needs_host) {
  if (!names.server.empty()) {
    return FindServers(names, impl);
  }
  engine::Machine machine{
      .gpu = names.gpu, .ranks = names.gpus, .nodes = names.nodes};
  ASSIGN_OR_RETURN(machine.platform, PlatformOf(names, needs_host));
  std::string device = names.gpu;
  if (!machine.platform.empty()) {
    ASSIGN_OR_RETURN(const hw::Node node, hw::FindPlatform(machine.platform));
    machine.gpu = names.gpu.empty() ? node.gpu : names.gpu;
    if (machine.nodes == 1) {
      machine.nodes = hw::NodesFor(node, names.gpus, names.nodes);
    }
    ASSIGN_OR_RETURN(device, hw::GpuOn(machine.gpu, machine.platform));
    ASSIGN_OR_RETURN(const std::string linked,
                     hw::PlatformWith(machine.platform, machine.gpu));
    ASSIGN_OR_RETURN(hw::Cluster cluster,
                     hw::FindCluster(linked, names.gpus, machine.nodes));
    machine.cluster = MakeNamed(ClusterName(linked, names.gpus, machine.nodes),
                                std::move(cluster));
  }
  ASSIGN_OR_RETURN(machine.device, FindGpu(device));
  return machine;
}

Result<Named<hw::Device>> FindGpu(std::string_view name) {
  ASSIGN_OR_RETURN(hw::Device device, hw::FindDevice(name));
  return MakeNamed(std::string(name), std::move(device));
}

Result<engine::Machine> MachineOfSteps(std::string_view gpu,
                                       std::string_view platform,
                                       const ir::GraphData& data) {
  engine::Machine machine{.gpu = std::string(gpu),
                          .platform = std::string(platform),
                          .ranks = static_cast<int>(data.ranks.size())};
  if (!gpu.empty()) {
    ASSIGN_OR_RETURN(machine.device, FindGpu(gpu));
  }
  const int members = std::max(machine.ranks, LargestGroup(data));
  std::string servers(platform);
  if (servers.empty() && machine.device) {
    ASSIGN_OR_RETURN(servers, SmallestWith(machine.device->chip, members));
  }
  if (!servers.empty()) {
    // A platform that has not as many matters to changes of collectives alone.
    if (auto cluster = hw::FindCluster(servers, members, 1)) {
      machine.cluster =
          MakeNamed(ClusterName(servers, members, 1), *std::move(cluster));
    }
  }
  return machine;
}

}  // namespace stepcast::scenario
