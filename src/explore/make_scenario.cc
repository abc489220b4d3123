#include "explore/make_scenario.h"

#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "explore/resize_model.h"
#include "hw/gpu_files.h"
#include "hw/platform_files.h"
#include "hw/server_files.h"
#include "workload/model_files.h"

namespace stepcast::explore {
namespace {

constexpr std::string_view kDefaultGpu = "a100-sxm-80gb";  // As of `predict`.

// "big-basin@host_memory_gbs=150,nic_gbs=3".
std::string WithFigures(const std::string& name,
                        const std::vector<FigureOverride>& figures) {
  std::string text = name;
  char mark = '@';
  for (const auto& [key, value] : figures) {
    text += fmt::format("{}{}={}", mark, key, value);
    mark = ',';
  }
  return text;
}

}  // namespace

Result<const workload::Model*> ScenarioMaker::FindModel(
    const std::string& name) {
  const auto found = models_.find(name);
  if (found != models_.end()) {
    return &found->second;
  }
  ASSIGN_OR_RETURN(workload::Model model, workload::FindModel(name));
  return &models_.emplace(name, std::move(model)).first->second;
}

Result<Scenario> ScenarioMaker::Make(std::span<const Setting> settings) {
  CHECK(!settings.empty() && settings.front().kind == kModelSetting);
  Scenario scenario;
  ASSIGN_OR_RETURN(const workload::Model* model,
                   FindModel(settings.front().value.text));
  scenario.request.model = *model;
  for (const Setting& setting : settings.subspan(1)) {
    RETURN_IF_ERROR(SettingKinds()[setting.kind].set(setting.value, scenario));
  }
  engine::Request& request = scenario.request;
  if (!request.platform.empty()) {
    request.platform = WithFigures(request.platform, scenario.platform_figures);
  }
  if (!scenario.servers.name.empty()) {
    scenario.servers.name =
        WithFigures(scenario.servers.name, scenario.server_figures);
  }
  const bool has_gpus = !request.gpu.empty() || !request.platform.empty();
  if (scenario.servers.trainers == 0 && !has_gpus) {
    // Servers alone train in step; without any there is a GPU.
    request.server = scenario.servers.name;
    request.gpu = request.server.empty() ? kDefaultGpu : "";
  }
  RETURN_IF_ERROR(CheckSizes(request.model));
  return scenario;
}

Status ScenarioMaker::CheckServers(const Servers& servers) {
  if (servers.trainers > 0 && servers.name.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "trainers without a server; expected one of `stepcast list "
                "servers`");
  }
  if (!servers.name.empty()) {
    ASSIGN_OR_RETURN(const hw::Host host, hw::FindHost(servers.name));
  }
  return {};
}

Status ScenarioMaker::CheckMachine(const Scenario& scenario) {
  const engine::Request& request = scenario.request;
  const Servers& servers = scenario.servers;
  // Whether tables are outside the GPU decides if a server is needed.
  std::string key = fmt::format(
      "{}|{}|{}|{}|{}|{}|{}", request.platform, request.gpu, request.gpus,
      request.nodes, scenario.placement, servers.name, servers.trainers > 0);
  if (machines_.contains(key)) {
    return {};
  }
  RETURN_IF_ERROR(CheckServers(servers));
  if (servers.trainers > 0 && !(request.platform + request.gpu).empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "both trainers without GPUs and a GPU or platform; expected "
                "one of them");
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
