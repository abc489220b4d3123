#include "scenario/resolve.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "cost/overheads/overhead_table.h"
#include "engine/run/request.h"
#include "hw/device.h"
#include "hw/figures.h"
#include "hw/node.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "model/tables/placement.h"
#include "plan/load_assignment.h"
#include "scenario/apply.h"
#include "scenario/resize_model.h"

namespace stepcast::scenario {
namespace {

// Which of GPUs and servers do the work.
Status ChooseMachine(Job& job) {
  MachineNames& names = job.names.machine;
  const Servers& servers = job.servers;
  const bool has_gpus = !names.gpu.empty() || !names.platform.empty();
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
    names.server = servers.name;
    names.gpu = servers.name.empty() ? kDefaultGpu : "";
  }
  if (names.server.empty() && !names.runtime.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "runtime is of servers without GPUs; expected server, too");
  }
  return {};
}

// Whether the rate of a GPU's links is to be tried: "h100-sxm-80gb@nvlink_gbs=
// 1800".
bool TriesLinks(const hw::Device& gpu) {
  const auto found = gpu.figures.find("nvlink_gbs");
  return found != gpu.figures.end() && found->second.source == hw::kAskedFor;
}

Status CheckLinks(const Job& job) {
  const engine::Machine& machine = job.request.machine;
  if (!machine.device || !TriesLinks(*machine.device)) {
    return {};
  }
  if (machine.ranks <= 1) {
    return NoEffect("nvlink_gbs",
                    "one GPU sends nothing over its links; expected gpus=2 or "
                    "more");
  }
  const hw::Node& node = machine.cluster->node;
  if (node.layout == hw::LinkLayout::kPcie ||
      node.layout == hw::LinkLayout::kHost) {
    return NoEffect("nvlink_gbs",
                    fmt::format("no links join the GPUs of {}; expected "
                                "pcie_gbs, or a platform with links",
                                node.name));
  }
  return {};
}

Status CheckUnits(const Job& job) {
  const engine::Machine& machine = job.request.machine;
  if (job.request.settings.precision != model::Precision::kTf32 ||
      !machine.device) {
    return {};
  }
  if (!machine.has_gpus()) {
    return NoEffect("precision tf32",
                    "processors have no TF32 units; "
                    "expected a GPU that has");
  }
  if (!hw::HasTf32(*machine.device)) {
    return NoEffect("precision tf32",
                    fmt::format("{} has no TF32 units; expected a GPU that "
                                "has, as NVIDIA's from Ampere on",
                                machine.gpu));
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
  request.trainer = servers.node.value;
  request.sparse = servers.sparse_node.value;
  request.dense = servers.dense_node.value;
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

Result<const model::Model*> Resolver::FindModel(const std::string& name) {
  const auto found = models_.find(name);
  if (found != models_.end()) {
    return &found->second;
  }
  ASSIGN_OR_RETURN(model::Model model, model::FindModel(name));
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
      const model::Model* const model,
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
  RETURN_IF_ERROR(Bind(job));
  if (!scenario.precision.empty()) {
    RETURN_IF_ERROR(CheckUnits(job));
  }
  return job;
}

Result<Named<hw::Node>> Resolver::Server(const std::string& name) {
  const auto found = servers_.find(name);
  if (found != servers_.end()) {
    return found->second;
  }
  ASSIGN_OR_RETURN(hw::Node node, hw::FindServer(name));
  return servers_.emplace(name, MakeNamed(name, std::move(node))).first->second;
}

Result<Named<cost::OverheadTable>> Resolver::Overheads(
    const std::string& name) {
  const auto found = overheads_.find(name);
  if (found != overheads_.end()) {
    return found->second;
  }
  ASSIGN_OR_RETURN(cost::OverheadData data, cost::LoadOverheads(name));
  return overheads_
      .emplace(name, MakeNamed(name, cost::OverheadTable(std::move(data))))
      .first->second;
}

Status Resolver::BindMachine(Job& job) {
  const MachineNames& names = job.names.machine;
  const model::Implementation& impl = *job.request.settings.impl;
  // Tables of a hybrid placement may end up on the host.
  const bool needs_host =
      job.request.hybrid.has_value() || !engine::AllInHbm(job.request.model);
  std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", names.gpu,
                                names.platform, names.server, names.runtime,
                                names.server.empty() ? "" : impl.name,
                                names.gpus, names.nodes, needs_host);
  const auto found = machines_.find(key);
  if (found != machines_.end()) {
    job.request.machine = found->second;
    return {};
  }
  ASSIGN_OR_RETURN(job.request.machine, FindMachine(names, impl, needs_host));
  machines_.emplace(std::move(key), job.request.machine);
  return {};
}

Status Resolver::BindServers(Servers& servers) {
  if (servers.name.empty()) {
    return {};
  }
  const auto named = [&](const std::string& name) -> const std::string& {
    return name.empty() ? servers.name : name;
  };
  ASSIGN_OR_RETURN(servers.node, Server(servers.name));
  ASSIGN_OR_RETURN(servers.sparse_node, Server(named(servers.sparse_name)));
  ASSIGN_OR_RETURN(servers.dense_node, Server(named(servers.dense_name)));
  return {};
}

Status Resolver::Bind(Job& job) {
  RETURN_IF_ERROR(BindServers(job.servers));
  if (job.is_fleet()) {
    return {};
  }
  RETURN_IF_ERROR(BindMachine(job));
  const engine::Machine& machine = job.request.machine;
  std::string overheads = job.names.overheads;
  if (overheads.empty()) {
    overheads = machine.has_gpus() ? job.request.settings.impl->overheads
                                   : machine.runtime->overheads;
  }
  ASSIGN_OR_RETURN(job.request.overheads, Overheads(overheads));
  if (!job.names.plan.empty()) {
    RETURN_IF_ERROR(plan::LoadAssignment(job.names.plan, job.request));
  }
  return {};
}

Status Resolver::Load(engine::Machine& machine) {
  ASSIGN_OR_RETURN(machine.kernels, store_.Kernels(machine.device));
  if (machine.ranks > 1) {
    ASSIGN_OR_RETURN(machine.collectives, store_.Collectives(machine.cluster));
  }
  return {};
}

Status CheckFigures(const Scenario& scenario, const Job& job) {
  const engine::Request& request = job.request;
  using model::Placement;
  RETURN_IF_ERROR(CheckLinks(job));
  const bool hybrid = request.hybrid.has_value();
  if (!scenario.nic_gbs.empty() && job.names.machine.nodes == 1 && !hybrid &&
      std::ranges::none_of(request.model.tables,
                           [](const model::TableGroup& table) {
                             return table.placement == Placement::kRemote;
                           })) {
    return NoEffect("nic-gbs",
                    "one node sends nothing over its adapters; expected "
                    "nodes=2 or more, or placement=remote");
  }
  const bool in_host =
      hybrid || std::ranges::any_of(
                    request.model.tables, [](const model::TableGroup& table) {
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

Status Change(const Setting& setting, std::string_view text, Job& job) {
  ASSIGN_OR_RETURN(const Value value, ParseValue(setting, text));
  if (setting.known != nullptr) {
    RETURN_IF_ERROR(setting.known(value.text));
  }
  MachineNames& names = job.names.machine;
  const std::string server = names.server;
  job.servers.name = server;
  RETURN_IF_ERROR(setting.apply(value, job));
  // Another server, or other figures of it: all train there.
  if (job.servers.name != server) {
    names.server = job.servers.name;
    names.gpu.clear();
    names.platform.clear();
  }
  job.servers.name = names.server;
  return {};
}

Status CheckRecordedGpu(const hw::Device& gpu) {
  if (TriesLinks(gpu)) {
    return NoEffect("nvlink_gbs",
                    "the collectives of a recorded step keep their time; "
                    "expected a model in its place");
  }
  return {};
}

Status CheckEffect(const Setting& setting, const Job& job) {
  if (setting.member == Member(&Scenario::gpu)) {
    RETURN_IF_ERROR(CheckLinks(job));
  }
  if (setting.member == Member(&Scenario::precision)) {
    RETURN_IF_ERROR(CheckUnits(job));
  }
  return setting.check == nullptr ? Status() : setting.check(job);
}

}  // namespace stepcast::scenario
