// The models of devices and of what is between them, loaded at most once each.
#ifndef STEPCAST_COST_MODEL_STORE_H_
#define STEPCAST_COST_MODEL_STORE_H_

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/named.h"
#include "base/result.h"
#include "cost/collectives/collective_models.h"
#include "cost/collectives/collective_store.h"
#include "cost/kernel_models.h"
#include "cost/profile.h"
#include "hw/cluster.h"
#include "hw/device.h"

namespace stepcast::cost {

/// Models stay where they are as long as the store. Not to be shared between
/// threads; each has its own.
class ModelStore {
 public:
  /// Profiles are directories that `stepcast fit` wrote; their models come
  /// before those that are built in.
  explicit ModelStore(const std::vector<std::filesystem::path>& profiles = {})
      : profiles_(profiles), kernel_store_(profiles), curves_(profiles) {}

  /// `recorder_latency_us`: the least time of a kernel as a recorder shows it;
  /// 0: as it is.
  Result<const KernelModels*> Kernels(const Named<hw::Device>& device,
                                      double recorder_latency_us = 0);
  Result<const CollectiveModels*> Collectives(
      const Named<hw::Cluster>& cluster);

  /// Fails for a profile that is of other devices than all that were asked for
  /// so far, here or of `others` with the same profile: nobody read it.
  Status CheckProfiles(std::span<const ModelStore* const> others = {}) const;

 private:
  std::vector<std::filesystem::path> profiles_;
  std::set<std::string> devices_;  // Whose folders in profiles were looked for.
  ProfileStore kernel_store_;
  CollectiveStore curves_;
  std::map<std::string, std::unique_ptr<KernelModels>, std::less<>> kernels_;
  std::map<std::string, std::unique_ptr<CollectiveModels>, std::less<>>
      collectives_;
};

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_MODEL_STORE_H_
