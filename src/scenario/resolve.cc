#include "scenario/resolve.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "engine/predictor.h"
#include "hw/device.h"
#include "hw/figures.h"
#include "hw/node.h"
#include "plan/load_deal.h"
#include "scenario/apply.h"
#include "scenario/resize_model.h"
#include "workload/model_files.h"
#include "workload/placement.h"

namespace stepcast::scenario {
namespace {

// Which of GPUs and servers do the work.
Status ChooseMachine(Job& job) {
  engine::Request& request = job.request;
  const Servers& servers = job.servers;
  const bool has_gpus = !request.gpu.empty() || !request.platform.empty();
  if (job.is_fleet()) {
    if (servers.name.empty()) {
      return Fail(ErrorCode::kInvalidInput,
                  "trainers without a server; expected one of `stepcast list "
                  "servers`");
    }
    return has_gpus ? Fail(ErrorCode::kInvalidInput,
                           "both trainers without GPUs and a GPU or platform; "
                           "expected one of them")
                    : Status();
  }
  if (!has_gpus) {
    // Servers alone train in step; without any there is a GPU.
    request.server = servers.name;
    request.gpu = servers.name.empty() ? kDefaultGpu : "";
  }
  if (request.server.empty() && !request.runtime.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "runtime is of servers without GPUs; expected server, too");
  }
  return {};
}

// Whether the rate of a GPU's links is to be tried: "h100-sxm-80gb@nvlink_gbs=
// 1800".
Result<bool> TriesLinks(std::string_view gpu) {
  if (gpu.find('@') == std::string_view::npos) {
    return false;
  }
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(gpu));
  const auto found = device.figures.find("nvlink_gbs");
  return found != device.figures.end() && found->second.source == hw::kAskedFor;
}

Status CheckLinks(const engine::Request& request) {
  ASSIGN_OR_RETURN(const bool tried, TriesLinks(request.gpu));
  if (!tried) {
    return {};
  }
  if (request.gpus <= 1) {
    return NoEffect("nvlink_gbs",
                    "one GPU sends nothing over its links; expected gpus=2 or "
                    "more");
  }
  std::string gpu = request.gpu;
  ASSIGN_OR_RETURN(const std::string platform,
                   engine::PlatformOf(request, gpu));
  ASSIGN_OR_RETURN(const hw::Node node, hw::FindPlatform(platform));
  if (node.layout == hw::LinkLayout::kPcie ||
      node.layout == hw::LinkLayout::kHost) {
    return NoEffect("nvlink_gbs",
                    fmt::format("no links join the GPUs of {}; expected "
                                "pcie_gbs, or a platform with links",
                                node.name));
  }
  return {};
}

Status ApplySettings(const Scenario& scenario, const Section* section,
                     Job& job) {
  for (const Setting& setting : Settings()) {
    if (setting.apply == nullptr || !setting.IsSet(scenario) ||
        (section != nullptr && setting.section != *section)) {
      continue;
    }
    const auto* const text =
        std::get_if<std::string Scenario::*>(&setting.member);
    ASSIGN_OR_RETURN(
        const Value value,
        text == nullptr ? Value() : ParseValue(setting, scenario.**text));
    RETURN_IF_ERROR(setting.apply(value, job));
  }
  return {};
}

}  // namespace

fleet::FleetRequest FleetRequestOf(const Job& job) {
  const Servers& servers = job.servers;
  fleet::FleetRequest request;
  request.model = job.request.model;
  request.settings = job.request.settings;
  request.server = servers.name;
  request.sparse_server = servers.sparse_name;
  request.dense_server = servers.dense_name;
  request.trainers = servers.trainers;
  request.threads = servers.threads;
  if (servers.sparse > 0) {
    request.sparse_servers = servers.sparse;
  }
  if (servers.dense > 0) {
    request.dense_servers = servers.dense;
  }
  if (servers.sync_every > 0) {
    request.sync_every = servers.sync_every;
  }
  request.samples = job.options.samples;
  request.seed = job.options.seed;
  return request;
}

Result<const workload::Model*> Resolver::FindModel(const std::string& name) {
  const auto found = models_.find(name);
  if (found != models_.end()) {
    return &found->second;
  }
  ASSIGN_OR_RETURN(workload::Model model, workload::FindModel(name));
  return &models_.emplace(name, std::move(model)).first->second;
}

Result<Job> Resolver::Resolve(const Scenario& scenario) {
  if (scenario.workload.size() > 1) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("{} models given; expected one", scenario.workload.size()));
  }
  Job job;
  ASSIGN_OR_RETURN(
      const workload::Model* const model,
      FindModel(scenario.workload.empty() ? std::string(kDefaultModel)
                                          : scenario.workload.front()));
  job.request.model = *model;
  const Subject subject = SubjectOfModel(scenario);
  RETURN_IF_ERROR(CheckSubject(scenario, subject));
  // One trainer where a fleet's other figures are given.
  if (subject == Subject::kFleet) {
    job.servers.trainers = 1;
  }
  RETURN_IF_ERROR(ApplySettings(scenario, nullptr, job));
  RETURN_IF_ERROR(ChooseMachine(job));
  RETURN_IF_ERROR(CheckSizes(job.request.model));
  for (const Setting& setting : Settings()) {
    if (setting.check != nullptr && setting.IsSet(scenario)) {
      RETURN_IF_ERROR(setting.check(job));
    }
  }
  if (!job.request.plan.empty()) {
    RETURN_IF_ERROR(plan::LoadDeal(job.request.plan, job.request));
  }
  return job;
}

Status CheckFigures(const Scenario& scenario, const Job& job) {
  const engine::Request& request = job.request;
  using workload::Placement;
  RETURN_IF_ERROR(CheckLinks(request));
  const bool hybrid = request.hybrid.has_value();
  if (!scenario.nic_gbs.empty() && request.nodes == 1 && !hybrid &&
      std::ranges::none_of(request.model.tables,
                           [](const workload::TableGroup& table) {
                             return table.placement == Placement::kRemote;
                           })) {
    return NoEffect("nic-gbs",
                    "one node sends nothing over its adapters; expected "
                    "nodes=2 or more, or placement=remote");
  }
  const bool in_host =
      hybrid ||
      std::ranges::any_of(request.model.tables,
                          [](const workload::TableGroup& table) {
                            return table.placement != Placement::kHbm &&
                                   table.placement != Placement::kRemote;
                          });
  for (const auto& [name, text] :
       {std::pair("host-memory-gb", &scenario.host_memory_gb),
        std::pair("host-memory-gbs", &scenario.host_memory_gbs)}) {
    if (!text->empty() && !in_host) {
      return NoEffect(name,
                      "no table is in the host's memory; expected "
                      "placement=host or another that puts some there");
    }
  }
  return {};
}

Result<Job> ResolveTimes(const Scenario& scenario) {
  constexpr Section kTimes = Section::kTimes;
  Job job;
  RETURN_IF_ERROR(ApplySettings(scenario, &kTimes, job));
  return job;
}

Result<Job> Resolve(const Scenario& scenario) {
  return Resolver().Resolve(scenario);
}

Status Change(const Setting& setting, std::string_view text,
              engine::Request& request) {
  ASSIGN_OR_RETURN(const Value value, ParseValue(setting, text));
  if (setting.known != nullptr) {
    RETURN_IF_ERROR(setting.known(value.text));
  }
  const std::string server = request.server;
  Job job;
  job.request = std::move(request);
  job.servers.name = server;
  const Status applied = setting.apply(value, job);
  request = std::move(job.request);
  RETURN_IF_ERROR(applied);
  // Another server, or other figures of it: all train there.
  if (job.servers.name != server) {
    request.server = std::move(job.servers.name);
    request.gpu.clear();
    request.platform.clear();
  }
  return {};
}

Status CheckRecordedGpu(std::string_view gpu) {
  ASSIGN_OR_RETURN(const bool tried, TriesLinks(gpu));
  if (tried) {
    return NoEffect("nvlink_gbs",
                    "the collectives of a recorded step keep their time; "
                    "expected a model in its place");
  }
  return {};
}

Status CheckEffect(const Setting& setting, const engine::Request& request) {
  if (setting.member == Member(&Scenario::gpu)) {
    RETURN_IF_ERROR(CheckLinks(request));
  }
  if (setting.check == nullptr) {
    return {};
  }
  Job job;
  job.request = request;
  return setting.check(job);
}

}  // namespace stepcast::scenario
