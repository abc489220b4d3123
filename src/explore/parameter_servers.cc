#include "explore/parameter_servers.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fleet/demands.h"
#include "hw/node.h"
#include "workload/placement.h"

namespace stepcast::explore {
namespace {

constexpr double kBytesPerUs = 1e3;  // Of one GB/s.
// Of what memory channels could do; as of fleets (fleet/predict_fleet.cc).
constexpr double kMemoryShare = 0.8;

workload::Model RemoteTables(const workload::Model& model) {
  workload::Model remote = model;
  std::erase_if(remote.tables, [](const workload::TableGroup& group) {
    return group.placement != workload::Placement::kRemote;
  });
  for (workload::TableGroup& group : remote.tables) {
    group.placement = workload::Placement::kHbm;  // As the servers see it.
  }
  return remote;
}

// One of the things that a server does, and how long all of a step's takes.
struct Busy {
  std::string_view name;
  Number share = Number::kSparseCpu;
  double us = 0;
};

}  // namespace

Status FillParameterServers(const scenario::Job& job,
                            const engine::ModelPrediction& predicted,
                            Row& row) {
  const workload::Model remote = RemoteTables(job.request.model);
  if (remote.tables.empty() || job.servers.sparse == 0 || !job.servers.node) {
    return {};
  }
  const hw::Node& host = *job.servers.node;
  // What a GPU's rank asks is what a trainer's thread with its batch would.
  ASSIGN_OR_RETURN(const fleet::Demands demands,
                   fleet::FindDemands(remote, job.request.settings,
                                      {.batch = predicted.batch}, host, host));
  const double servers = job.servers.sparse;
  row.at(Number::kServersGb) = demands.table_bytes / kGiga;
  row.at(Number::kServersCapacityGb) = servers * host.memory_gb;
  row.at(Number::kPowerW) += servers * host.power_w;
  if (row.at(Number::kServersGb) > row.at(Number::kServersCapacityGb)) {
    row.at(Number::kFits) = 0;
    row.note = fmt::format("does not fit: {:.1f} GB on {} servers of {:.0f} GB",
                           row.at(Number::kServersGb), job.servers.sparse,
                           host.memory_gb);
    return {};
  }
  const double ranks = job.request.machine.ranks;
  const Busy busy[] = {
      {.name = "sparse cpu",
       .share = Number::kSparseCpu,
       .us = ranks *
             (demands.sparse.core_us / servers + demands.sparse_message_us) /
             host.cores()},
      {.name = "sparse memory",
       .share = Number::kSparseMemory,
       .us = ranks * demands.sparse.dram_bytes /
             (servers * kMemoryShare * host.memory_gbs * kBytesPerUs)},
      {.name = "sparse network",
       .share = Number::kSparseNetwork,
       .us = ranks * demands.sparse.NetworkUs(host.nic_gbs) / servers}};
  const Busy& most = *std::ranges::max_element(busy, {}, &Busy::us);
  double& step_us = row.at(Number::kStepUs);
  if (most.us > step_us) {
    const double slower = most.us / step_us;
    for (const Number number :
         {Number::kStepUs, Number::kP10Us, Number::kP50Us, Number::kP90Us}) {
      row.at(number) *= slower;
    }
    for (const Number number :
         {Number::kSamplesPerS, Number::kGpuActive, Number::kHostBusy}) {
      row.at(number) /= slower;
    }
    row.at(Number::kIdleWaitUs) += most.us * (1 - 1 / slower);
    row.bound_by = most.name;
  }
  for (const Busy& part : busy) {
    row.at(part.share) = part.us / step_us;
  }
  return {};
}

}  // namespace stepcast::explore
