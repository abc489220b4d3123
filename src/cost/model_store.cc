#include "cost/model_store.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/text/join.h"
#include "hw/figures.h"

namespace stepcast::cost {
namespace {

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

}  // namespace

Result<const KernelModels*> ModelStore::Kernels(const Named<hw::Device>& device,
                                                double recorder_latency_us) {
  std::string key = fmt::format("{}+{}", device.name, recorder_latency_us);
  const auto found = kernels_.find(key);
  if (found != kernels_.end()) {
    return found->second.get();
  }
  devices_.insert(std::string(hw::NameBeforeFigures(device->name)));
  devices_.insert(device->borrow.begin(), device->borrow.end());
  ASSIGN_OR_RETURN(KernelModels models,
                   KernelModels::Load(*device, kernel_store_));
  models.SetLatency(recorder_latency_us);
  auto owned = std::make_unique<KernelModels>(std::move(models));
  return kernels_.emplace(std::move(key), std::move(owned)).first->second.get();
}

Result<const CollectiveModels*> ModelStore::Collectives(
    const Named<hw::Cluster>& cluster) {
  const auto found = collectives_.find(cluster.name);
  if (found != collectives_.end()) {
    return found->second.get();
  }
  for (const std::string& system : cluster->node.collectives) {
    devices_.insert(system.substr(0, system.find('/')));
  }
  ASSIGN_OR_RETURN(CollectiveModels models,
                   CollectiveModels::Load(*cluster, curves_));
  auto owned = std::make_unique<CollectiveModels>(std::move(models));
  return collectives_.emplace(cluster.name, std::move(owned))
      .first->second.get();
}

Status ModelStore::CheckProfiles(
    std::span<const ModelStore* const> others) const {
  for (const std::filesystem::path& profile : profiles_) {
    std::set<std::string> devices = devices_;
    for (const ModelStore* const other : others) {
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
    // Files next to the folders are for all devices.
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

}  // namespace stepcast::cost
