#include "explore/check_machine.h"

#include <utility>

#include <fmt/format.h>

#include "engine/predictor.h"
#include "hw/cluster.h"
#include "hw/device.h"
#include "hw/node.h"

namespace stepcast::explore {

Status MachineChecker::Check(const scenario::Job& job,
                             std::string_view placement) {
  const engine::Request& request = job.request;
  const scenario::Servers& servers = job.servers;
  // Whether tables are outside the GPU decides if a server is needed.
  std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}", request.platform,
                                request.gpu, request.gpus, request.nodes,
                                placement, servers.name, servers.trainers > 0);
  if (machines_.contains(key)) {
    return {};
  }
  if (!servers.name.empty()) {
    ASSIGN_OR_RETURN(const hw::Node host, hw::FindServer(servers.name));
  }
  if (servers.trainers == 0 && request.server.empty()) {
    std::string gpu = request.gpu;
    ASSIGN_OR_RETURN(const std::string platform,
                     engine::PlatformOf(request, gpu));
    ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(gpu));
    if (!platform.empty()) {
      ASSIGN_OR_RETURN(const hw::Cluster cluster,
                       hw::FindCluster(platform, request.gpus, request.nodes));
    }
  }
  machines_.insert(std::move(key));
  return {};
}

}  // namespace stepcast::explore
