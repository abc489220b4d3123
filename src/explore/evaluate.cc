#include "explore/evaluate.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "base/units.h"
#include "engine/explain/account.h"
#include "engine/run/place_tables.h"
#include "engine/run/predict_model.h"
#include "explore/row.h"
#include "fleet/predict_fleet.h"
#include "hw/cluster.h"
#include "hw/node.h"
#include "ir/shape.h"
#include "model/tables/placement.h"
#include "scenario/job.h"

namespace stepcast::explore {
namespace {

// The load that tables placed on parameter servers put on them when GPUs train.

constexpr double kBytesPerUs = 1e3;  // Of one GB/s.
// Of what memory channels could do; as of fleets (fleet/predict_fleet.cc).
constexpr double kMemoryShare = 0.8;

model::Model RemoteTables(const model::Model& model) {
  model::Model remote = model;
  std::erase_if(remote.tables, [](const model::TableGroup& group) {
    return group.placement != model::Placement::kRemote;
  });
  for (model::TableGroup& group : remote.tables) {
    group.placement = model::Placement::kHbm;  // As the servers see it.
  }
  return remote;
}

// One of the things that a server does, and how long all of a step's takes.
struct Busy {
  std::string_view name;
  Number share = Number::kSparseCpu;
  double us = 0;
};

Status FillParameterServers(const scenario::Job& job,
                            const engine::ModelPrediction& predicted,
                            Row& row) {
  const model::Model remote = RemoteTables(job.request.model);
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

// How far servers with GPUs are used: their memory, their network, their power.

// Bytes that the rank with most moves in a step.
struct HostBytes {
  double memory = 0;   // Within the host's memory.
  double network = 0;  // To and from parameter servers.
};

HostBytes BytesOf(const ir::GraphData& data) {
  std::vector<HostBytes> ranks(data.ranks.size());
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::Activity& activity = data.activities[id];
    HostBytes& bytes = ranks[data.streams[activity.stream].rank.value];
    const ir::KernelShape& shape = data.shapes[activity.shape];
    if (const auto* copy = std::get_if<ir::Copy>(&shape)) {
      bytes.memory += copy->kind == ir::CopyKind::kHostToHost
                          ? static_cast<double>(copy->bytes.count)
                          : 0;
    } else if (const auto* message = std::get_if<ir::Collective>(&shape)) {
      bytes.network += message->kind == ir::CollectiveKind::kSendRecv
                           ? static_cast<double>(message->bytes.count)
                           : 0;
    }
  }
  HostBytes most;
  for (const HostBytes& bytes : ranks) {
    most.memory = std::max(most.memory, bytes.memory);
    most.network = std::max(most.network, bytes.network);
  }
  return most;
}

void FillMachineUse(const scenario::Job& job,
                    const engine::ModelPrediction& predicted, Row& row) {
  const engine::Machine& machine = job.request.machine;
  if (!machine.has_gpus() || !machine.cluster) {
    return;
  }
  const hw::Cluster* const cluster = machine.cluster.value.get();
  constexpr double kBytesAUs = 1e3;  // Of one GB/s.
  const HostBytes bytes = BytesOf(predicted.result.graph->data());
  const double step_us = row.at(Number::kStepUs);
  const double ranks = cluster->gpus_per_node;
  if (bytes.memory > 0) {
    row.at(Number::kTrainerMemory) =
        bytes.memory * ranks / (step_us * cluster->node.memory_gbs * kBytesAUs);
  }
  const double nic_gbs = cluster->node.nics * cluster->node.nic_gbs;
  if (bytes.network > 0 && nic_gbs > 0) {
    row.at(Number::kTrainerNetwork) =
        bytes.network * ranks / (step_us * nic_gbs * kBytesAUs);
  }
}

// The row of asynchronous training on servers without GPUs.

// The columns of a tier, from its processors' on.
void FillTier(const fleet::TierUse& tier, Number cpu, Row& row) {
  const auto first = static_cast<size_t>(cpu);
  row.numbers[first] = tier.cpu;
  row.numbers[first + 1] = tier.memory_bandwidth;
  row.numbers[first + 2] = tier.network;
}

std::string WhatDoesNotFit(const fleet::FleetPrediction& prediction) {
  struct Tier {
    std::string_view name;
    const fleet::TierUse* use = nullptr;
  };
  for (const Tier& tier : {Tier{"trainer", &prediction.trainers},
                           Tier{"sparse server", &prediction.sparse},
                           Tier{"dense server", &prediction.dense}}) {
    if (!tier.use->fits()) {
      return fmt::format("does not fit: {:.1f} GB on a {} of {:.0f} GB",
                         tier.use->memory_bytes / kGiga, tier.name,
                         tier.use->memory_capacity / kGiga);
    }
  }
  return "";
}

Row FleetRow(const fleet::FleetPrediction& prediction, bool has_interval) {
  Row row;
  row.at(Number::kHostGb) = prediction.trainers.memory_bytes / kGiga;
  row.at(Number::kHostCapacityGb) = prediction.trainers.memory_capacity / kGiga;
  row.at(Number::kServersGb) = 0;
  row.at(Number::kServersCapacityGb) = 0;
  for (const fleet::TierUse* tier : {&prediction.sparse, &prediction.dense}) {
    row.at(Number::kServersGb) += tier->servers * tier->memory_bytes / kGiga;
    row.at(Number::kServersCapacityGb) +=
        tier->servers * tier->memory_capacity / kGiga;
  }
  row.at(Number::kPowerW) = prediction.power_w;
  row.at(Number::kFits) = prediction.fits() ? 1 : 0;
  if (!prediction.fits()) {
    row.note = WhatDoesNotFit(prediction);
    return row;
  }
  row.at(Number::kSamplesPerS) = prediction.samples_per_s;
  row.at(Number::kStepUs) = prediction.iteration_us;
  if (has_interval) {
    row.at(Number::kP10Us) = prediction.iteration_us *
                             prediction.samples_per_s /
                             prediction.samples_per_s_p90;
    row.at(Number::kP50Us) = prediction.iteration_us;
    row.at(Number::kP90Us) = prediction.iteration_us *
                             prediction.samples_per_s /
                             prediction.samples_per_s_p10;
  }
  FillTier(prediction.trainers, Number::kTrainerCpu, row);
  FillTier(prediction.sparse, Number::kSparseCpu, row);
  FillTier(prediction.dense, Number::kDenseCpu, row);
  row.at(Number::kSamplesPerJoule) = prediction.samples_per_joule;
  if (prediction.samples_per_usd) {
    row.at(Number::kSamplesPerDollar) = *prediction.samples_per_usd;
  }
  row.bound_by = prediction.bound_by;
  return row;
}

constexpr double kMicro = 1e-6;
// What machines cost is spread over as long a life as fleets' servers have.
constexpr double kSecondsOfUse = fleet::kYearsOfUse * 365.25 * 24 * 3600;

// The columns of the families that every DLRM has.
Number ColumnOf(std::string_view family) {
  constexpr std::pair<std::string_view, Number> kFamilies[] = {
      {"gemm", Number::kGemmUs},
      {"embedding_bag", Number::kEmbeddingUs},
      {"interaction", Number::kInteractionUs},
      {"elementwise", Number::kElementwiseUs},
      {"optimizer_step", Number::kOptimizerUs},
  };
  for (const auto& [name, number] : kFamilies) {
    if (name == family) {
      return number;
    }
  }
  return Number::kOtherUs;
}

template <size_t... kIndices>
std::array<std::string_view, sizeof...(kIndices)> FamilyNames(
    std::index_sequence<kIndices...> /*indices*/) {
  return {ir::FamilyName(
      std::variant_alternative_t<kIndices, ir::KernelShape>())...};
}

template <size_t... kIndices>
std::array<Number, sizeof...(kIndices)> FamilyColumns(
    std::index_sequence<kIndices...> /*indices*/) {
  return {ColumnOf(ir::FamilyName(
      std::variant_alternative_t<kIndices, ir::KernelShape>()))...};
}

void FillBreakdown(const engine::RankAccount& account, Row& row) {
  static const auto columns =
      FamilyColumns(std::make_index_sequence<engine::kFamilyCount>());
  for (const Number number :
       {Number::kGemmUs, Number::kEmbeddingUs, Number::kInteractionUs,
        Number::kElementwiseUs, Number::kOptimizerUs, Number::kOtherUs}) {
    row.at(number) = 0;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    row.at(columns[i]) += ToMicroseconds(account.kernels[i]);
  }
  row.at(Number::kCopiesUs) = ToMicroseconds(account.copies_exposed);
  row.at(Number::kCommunicationUs) =
      ToMicroseconds(account.communication_exposed);
  row.at(Number::kIdleHostUs) = ToMicroseconds(account.idle.host);
  row.at(Number::kIdleLaunchUs) = ToMicroseconds(account.idle.launch);
  row.at(Number::kIdleSyncUs) = ToMicroseconds(account.idle.sync);
  row.at(Number::kIdleWaitUs) = ToMicroseconds(account.idle.wait_for_rank);
}

// The family of other kernels that took most.
std::pair<double, std::string_view> LongestOther(
    const engine::RankAccount& account) {
  constexpr auto kAll = std::make_index_sequence<engine::kFamilyCount>();
  const auto columns = FamilyColumns(kAll);
  const auto names = FamilyNames(kAll);
  std::pair<double, std::string_view> longest = {0, "other kernels"};
  for (size_t i = 0; i < columns.size(); ++i) {
    const double us = ToMicroseconds(account.kernels[i]);
    if (columns[i] == Number::kOtherUs && us > longest.first) {
      longest = {us, names[i]};
    }
  }
  return longest;
}

// What most of the step went to. Launching and coming back from a wait are the
// host's as well: a faster GPU would not shorten them.
std::string BoundBy(const engine::RankAccount& account, const Row& row) {
  const std::pair<double, std::string_view> parts[] = {
      {row.at(Number::kGemmUs), "gemm"},
      {row.at(Number::kEmbeddingUs), "embedding"},
      {row.at(Number::kInteractionUs), "interaction"},
      {row.at(Number::kElementwiseUs), "elementwise"},
      {row.at(Number::kOptimizerUs), "optimizer"},
      LongestOther(account),
      {row.at(Number::kCopiesUs), "copies"},
      {row.at(Number::kCommunicationUs), "communication"},
      {row.at(Number::kIdleHostUs) + row.at(Number::kIdleLaunchUs) +
           row.at(Number::kIdleSyncUs),
       "host"},
      {row.at(Number::kIdleWaitUs), "other ranks"},
  };
  const auto* const most = std::ranges::max_element(
      parts, {}, &std::pair<double, std::string_view>::first);
  return std::string(most->second);
}

double Share(Duration part, Duration whole) {
  return whole > Duration{} ? static_cast<double>(part.count()) /
                                  static_cast<double>(whole.count())
                            : 0;
}

void FillMemory(const engine::ModelPrediction& predicted, Row& row) {
  const double hbm = predicted.memory.total();
  row.at(Number::kHbmGb) = hbm / kGiga;
  row.at(Number::kHbmCapacityGb) = predicted.memory_capacity / kGiga;
  const bool fits_gpu = hbm <= predicted.memory_capacity;
  bool fits_host = true;
  if (predicted.host_bytes > 0) {
    row.at(Number::kHostGb) = predicted.host_bytes / kGiga;
    row.at(Number::kHostCapacityGb) = predicted.host_capacity / kGiga;
    fits_host = predicted.host_bytes <= predicted.host_capacity;
  }
  row.at(Number::kFits) = fits_gpu && fits_host ? 1 : 0;
  if (!fits_gpu) {
    row.note = fmt::format("does not fit: {:.1f} GB on a GPU of {:.0f} GB",
                           hbm / kGiga, predicted.memory_capacity / kGiga);
  } else if (!fits_host) {
    row.note = fmt::format("does not fit: {:.1f} GB on a node of {:.0f} GB",
                           predicted.host_bytes / kGiga,
                           predicted.host_capacity / kGiga);
  }
}

void FillTimes(const engine::ModelPrediction& predicted, int ranks,
               bool has_interval, Row& row) {
  const engine::StepResult& prediction = predicted.result;
  const engine::RankAccount& account =
      prediction.accounts[prediction.slowest()];
  const double step_us = ToMicroseconds(prediction.step);
  row.at(Number::kStepUs) = step_us;
  row.at(Number::kSamplesPerS) =
      static_cast<double>(predicted.batch * ranks) / (step_us * kMicro);
  if (has_interval) {
    row.at(Number::kP10Us) = ToMicroseconds(prediction.interval.p10);
    row.at(Number::kP50Us) = ToMicroseconds(prediction.interval.p50);
    row.at(Number::kP90Us) = ToMicroseconds(prediction.interval.p90);
  }
  row.at(Number::kGpuActive) = Share(account.gpu_active, account.step);
  row.at(Number::kHostBusy) = Share(account.host_busy, account.step);
  FillBreakdown(account, row);
  row.bound_by = BoundBy(account, row);
}

Row CannotRun(const Error& error) {
  Row row;
  row.note = fmt::format("cannot run: {}", error.message);
  return row;
}

// Of a row that does not fit: what it would need, and nothing else.
Row WithoutTimes(const Row& row) {
  Row bare;
  for (const Number number :
       {Number::kHbmGb, Number::kHbmCapacityGb, Number::kHostGb,
        Number::kHostCapacityGb, Number::kServersGb, Number::kServersCapacityGb,
        Number::kFits, Number::kPowerW}) {
    bare.at(number) = row.at(number);
  }
  bare.note = row.note;
  return bare;
}

}  // namespace

Row Evaluator::EvaluateFleet(const scenario::Job& job) {
  const auto predicted = fleet::PredictFleet(scenario::FleetRequestOf(job));
  return predicted ? FleetRow(*predicted, job.options.samples > 0)
                   : CannotRun(predicted.error());
}

Row Evaluator::EvaluateHybrid(scenario::Job job) {
  const auto placed = engine::PlaceHybrid(job.request);
  if (!placed) {
    return CannotRun(placed.error());
  }
  job.request = placed->request;
  Row row = EvaluateStep(job);
  row.note = row.note.empty() ? placed->note : row.note;
  return row;
}

Row Evaluator::EvaluateStep(const scenario::Job& job) {
  if (job.request.hybrid) {
    return EvaluateHybrid(job);
  }
  const auto predicted = engine::PredictModel(job.request, job.options);
  if (!predicted) {
    return CannotRun(predicted.error());
  }
  Row row;
  FillMemory(*predicted, row);
  if (predicted->power_w > 0) {
    row.at(Number::kPowerW) = predicted->power_w;
  }
  if (!row.fits()) {
    return row;
  }
  FillTimes(*predicted, job.request.machine.ranks, job.options.samples > 0,
            row);
  FillMachineUse(job, *predicted, row);
  if (const auto status = FillParameterServers(job, *predicted, row); !status) {
    return CannotRun(status.error());
  }
  if (!row.fits()) {
    return WithoutTimes(row);
  }
  row.at(Number::kSamplesPerJoule) =
      row.at(Number::kSamplesPerS) / row.at(Number::kPowerW);
  // What parameter servers cost is not known here.
  const bool alone = std::isnan(row.at(Number::kServersGb));
  if (predicted->price_usd && alone) {
    row.at(Number::kSamplesPerDollar) =
        row.at(Number::kSamplesPerS) * kSecondsOfUse / *predicted->price_usd;
  }
  return row;
}

Row Evaluator::Evaluate(std::span<const Setting> settings) {
  const auto resolve = [&]() -> Result<scenario::Job> {
    ASSIGN_OR_RETURN(const scenario::Scenario asked, ScenarioOf(settings));
    ASSIGN_OR_RETURN(scenario::Job job, resolver_.Resolve(asked));
    // The study's own, unless a row has others.
    if (asked.samples.empty()) {
      job.options.samples = options_.samples;
    }
    if (asked.seed.empty()) {
      job.options.seed = options_.seed;
    }
    if (!job.is_fleet()) {
      RETURN_IF_ERROR(resolver_.Load(job.request.machine));
    }
    return job;
  };
  const auto job = resolve();
  if (!job) {
    return CannotRun(job.error());
  }
  return job->is_fleet() ? EvaluateFleet(*job) : EvaluateStep(*job);
}

}  // namespace stepcast::explore
