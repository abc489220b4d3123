#include "engine/predictor.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/join.h"
#include "base/units.h"
#include "cost/overheads/overhead_files.h"
#include "engine/build_job.h"
#include "engine/place_tables.h"
#include "hw/cluster.h"
#include "hw/device.h"
#include "hw/figures.h"
#include "hw/links.h"
#include "workload/build_graph.h"
#include "workload/impl/implementations.h"

namespace stepcast::engine {
namespace {

bool AllInHbm(const workload::Model& model) {
  return std::ranges::all_of(
      model.tables, [](const workload::TableGroup& table) {
        return table.placement == workload::Placement::kHbm;
      });
}

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

std::set<std::string> FoldersIn(const std::filesystem::path& directory) {
  std::set<std::string> folders;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory, error)) {
    if (entry.is_directory(error)) {
      folders.insert(entry.path().filename().string());
    }
  }
  return folders;
}

// The server of a rank, where tables are in its memory or beyond.
struct Host {
  HostPricing pricing{};
  double memory_gb = 0;
};

Host HostOf(const Request& request, const std::string& platform,
            const hw::Device& device) {
  const auto cluster =
      platform.empty()
          ? Result<hw::Cluster>(Fail(ErrorCode::kNotFound, "no platform"))
          : hw::FindCluster(platform, request.gpus, request.nodes);
  if (!cluster) {
    // A workstation of two usual sockets, with as much memory as there is.
    return {.pricing = {.memory_gbs = hw::UsualHostGbs(device.pcie_gbs),
                        .nic_gbs = hw::kLeastNicGbs},
            .memory_gb = std::numeric_limits<double>::infinity()};
  }
  const double nic = hw::NicGbsPerGpu(cluster->node, cluster->gpus_per_node);
  return {.pricing = {.memory_gbs =
                          cluster->node.memory_gbs / cluster->gpus_per_node,
                      .nic_gbs =
                          nic > 0 ? nic
                                  : hw::kLeastNicGbs / cluster->gpus_per_node},
          .memory_gb = cluster->node.memory_gb};
}

// What the servers take and cost, all of them.
struct Costs {
  double power_w = 0;
  std::optional<double> price_usd{};
};

Costs CostsOf(const Request& request, const std::string& platform) {
  if (platform.empty()) {
    return {};
  }
  const auto cluster = hw::FindCluster(platform, request.gpus, request.nodes);
  return cluster ? Costs{.power_w = cluster->power_w,
                         .price_usd = cluster->price_usd}
                 : Costs{};
}

// What a reader should know of a type that the device has no units for.
std::vector<std::string> TypeNotes(workload::Precision precision,
                                   const hw::Device& device) {
  const bool tf32 =
      precision == workload::Precision::kTf32 && !hw::HasTf32(device);
  const bool bf16 =
      precision == workload::Precision::kBf16 && !hw::HasBf16(device);
  if (!tf32 && !bf16) {
    return {};
  }
  return {fmt::format("{} has no {} units: products at FP32's rate",
                      device.name, tf32 ? "TF32" : "BF16")};
}

}  // namespace

Result<const cost::KernelModels*> Predictor::Models(
    std::string_view gpu, double recorder_latency_us) {
  const std::string key = fmt::format("{}+{}", gpu, recorder_latency_us);
  const auto found = models_.find(key);
  if (found != models_.end()) {
    return found->second.get();
  }
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(gpu));
  return AddModels(key, device, recorder_latency_us);
}

Result<const cost::KernelModels*> Predictor::AddModels(
    std::string key, const hw::Device& device, double recorder_latency_us) {
  devices_.insert(std::string(hw::NameBeforeFigures(device.name)));
  devices_.insert(device.borrow.begin(), device.borrow.end());
  ASSIGN_OR_RETURN(cost::KernelModels models,
                   cost::KernelModels::Load(device, store_));
  models.SetLatency(recorder_latency_us);
  auto owned = std::make_unique<cost::KernelModels>(std::move(models));
  return models_.emplace(std::move(key), std::move(owned)).first->second.get();
}

Result<const cost::CollectiveModels*> Predictor::AddCollectives(
    std::string key, const hw::Cluster& cluster) {
  for (const std::string& system : cluster.node.collectives) {
    devices_.insert(system.substr(0, system.find('/')));
  }
  ASSIGN_OR_RETURN(cost::CollectiveModels models,
                   cost::CollectiveModels::Load(cluster, collective_store_));
  auto owned = std::make_unique<cost::CollectiveModels>(std::move(models));
  return collectives_.emplace(std::move(key), std::move(owned))
      .first->second.get();
}

Status Predictor::CheckProfiles(
    std::span<const Predictor* const> others) const {
  for (const std::filesystem::path& profile : profiles_) {
    std::set<std::string> devices = devices_;
    for (const Predictor* const other : others) {
      if (std::ranges::find(other->profiles_, profile) !=
          other->profiles_.end()) {
        devices.insert(other->devices_.begin(), other->devices_.end());
      }
    }
    std::error_code error;
    if (std::filesystem::is_empty(profile, error)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("profile {} is empty; expected what `stepcast "
                              "fit` wrote",
                              profile.string()));
    }
    const std::set<std::string> folders = FoldersIn(profile);
    // Files beside the folders are of all devices.
    if (folders.empty() ||
        std::ranges::any_of(folders, [&](const std::string& folder) {
          return devices.contains(folder);
        })) {
      continue;
    }
    return Fail(
        ErrorCode::kInvalidInput,
        devices.empty()
            ? fmt::format("profile {} has no effect: no device is priced "
                          "here; expected none",
                          profile.string())
            : fmt::format("profile {} has no effect: it is of {}; expected one "
                          "of {}",
                          profile.string(), Join(folders, ", "),
                          Join(devices, ", ")));
  }
  return {};
}

Result<const cost::OverheadTable*> Predictor::Overheads(std::string_view name) {
  const auto found = overheads_.find(name);
  if (found != overheads_.end()) {
    return found->second.get();
  }
  ASSIGN_OR_RETURN(cost::OverheadData data, cost::LoadOverheads(name));
  auto owned = std::make_unique<cost::OverheadTable>(std::move(data));
  return overheads_.emplace(std::string(name), std::move(owned))
      .first->second.get();
}

Result<const cost::CollectiveModels*> Predictor::Collectives(
    std::string_view platform, int gpus, int nodes) {
  const std::string key = fmt::format("{} {} {}", platform, gpus, nodes);
  const auto found = collectives_.find(key);
  if (found != collectives_.end()) {
    return found->second.get();
  }
  ASSIGN_OR_RETURN(const hw::Cluster cluster,
                   hw::FindCluster(platform, gpus, nodes));
  return AddCollectives(key, cluster);
}

Result<ModelPrediction> Predictor::Predict(const Request& request,
                                           const PredictOptions& options) {
  if (request.hybrid && request.server.empty()) {
    ASSIGN_OR_RETURN(const HybridRequest placed, PlaceHybrid(request, *this));
    ASSIGN_OR_RETURN(ModelPrediction predicted,
                     Predict(placed.request, options));
    predicted.notes.push_back(placed.note);
    return predicted;
  }
  workload::Settings settings = request.settings;
  settings.batch = settings.batch > 0 ? settings.batch : request.model.batch;
  if (!request.server.empty()) {
    return PredictOnServers(request, settings, options);
  }
  std::string gpu = request.gpu;
  ASSIGN_OR_RETURN(std::string platform, PlatformOf(request, gpu));
  ASSIGN_OR_RETURN(const int nodes, NodesOn(platform, request));
  if (nodes != request.nodes) {
    Request spread = request;
    spread.nodes = nodes;
    return Predict(spread, options);
  }
  ASSIGN_OR_RETURN(Job job, BuildJob(request, settings, request.gpus));
  ASSIGN_OR_RETURN(const std::string device, hw::GpuOn(gpu, platform));
  ASSIGN_OR_RETURN(const cost::KernelModels* models,
                   Models(device, request.recorder_latency_us));
  const std::string name = request.overheads.empty()
                               ? std::string(DefaultOverheads(settings.impl))
                               : request.overheads;
  ASSIGN_OR_RETURN(const cost::OverheadTable* overheads, Overheads(name));
  PredictOptions how = options;
  how.system_spread = kSystemSpread;
  if (request.gpus > 1) {
    ASSIGN_OR_RETURN(const std::string linked, hw::PlatformWith(platform, gpu));
    ASSIGN_OR_RETURN(how.price.collectives.models,
                     Collectives(linked, request.gpus, request.nodes));
    how.price.collectives.rank_counts = job.counts;
    how.price.collectives.ranks = request.gpus;
    how.price.collectives.nodes = request.nodes;
    how.price.collectives.staged = workload::ExchangesByNode(settings.impl);
  }
  const Host host = AllInHbm(request.model)
                        ? Host{}
                        : HostOf(request, platform, models->machine().device);
  how.price.host = host.pricing;
  ASSIGN_OR_RETURN(
      StepResult result,
      engine::Predict(
          {.graph = std::make_shared<const ir::Graph>(std::move(job.graph)),
           .models = models,
           .overheads = overheads},
          how));
  const Costs costs = CostsOf(request, platform);
  const double host_bytes = job.memory.host / request.nodes;
  return ModelPrediction{
      .result = std::move(result),
      .memory = std::move(job.memory),
      .rank_bytes = std::move(job.rank_bytes),
      .memory_capacity = models->machine().device.dram_gb * kGiga,
      .host_bytes = host_bytes,
      .host_capacity = host.memory_gb * kGiga,
      .overheads = name,
      .gpu = std::move(gpu),
      .platform = std::move(platform),
      .batch = settings.batch,
      .ranks = request.gpus,
      .power_w = costs.power_w,
      .price_usd = costs.price_usd,
      .notes = TypeNotes(settings.precision, models->machine().device)};
}

Result<std::string> PlatformOf(const Request& request, std::string& gpu) {
  const bool alone = request.gpus <= 1;
  if (alone && request.platform.empty() && AllInHbm(request.model)) {
    return std::string();
  }
  if (!request.platform.empty()) {
    ASSIGN_OR_RETURN(const hw::Node platform,
                     hw::FindPlatform(request.platform));
    gpu = gpu.empty() ? platform.gpu : gpu;
    return request.platform;
  }
  ASSIGN_OR_RETURN(const std::vector<hw::Node> platforms, hw::LoadPlatforms());
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(gpu));
  const std::string name = device.name.substr(0, device.name.find('@'));
  const int on_node =
      (request.gpus + request.nodes - 1) / std::max(request.nodes, 1);
  const hw::Node* best = nullptr;
  for (const hw::Node& platform : platforms) {
    if (platform.gpu == name && platform.domain_devices >= on_node &&
        (best == nullptr || IsMoreUsual(platform, *best))) {
      best = &platform;
    }
  }
  if (best == nullptr && alone) {
    return std::string();
  }
  if (best == nullptr) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("no built-in platform has {} {} on a node; "
                            "expected --platform NAME or --nodes N",
                            on_node, device.name));
  }
  return best->name;
}

Result<int> NodesOn(const std::string& platform, const Request& request) {
  if (platform.empty() || request.nodes != 1) {
    return request.nodes;
  }
  ASSIGN_OR_RETURN(const hw::Node found, hw::FindPlatform(platform));
  return hw::NodesFor(found, request.gpus, request.nodes);
}

HostPricing HostPricingOf(const Request& request, const std::string& platform,
                          const hw::Device& device) {
  return HostOf(request, platform, device).pricing;
}

std::string_view DefaultOverheads(std::string_view impl) {
  const auto found = workload::FindImplementation(impl);
  return found ? (*found)->overheads : cost::kSharedOverheads;
}

}  // namespace stepcast::engine
