// Predictions of models by name: keeps what was loaded for the next one.
#ifndef STEPCAST_ENGINE_PREDICTOR_H_
#define STEPCAST_ENGINE_PREDICTOR_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/collectives/collective_models.h"
#include "cost/collectives/collective_store.h"
#include "cost/kernel_models.h"
#include "cost/overheads/overhead_table.h"
#include "cost/profile.h"
#include "engine/predict.h"
#include "engine/step_result.h"
#include "hw/cluster.h"
#include "hw/device.h"
#include "workload/memory.h"
#include "workload/model.h"
#include "workload/settings.h"
#include "workload/table_deal.h"

namespace stepcast::engine {

/// A model, how it is run and on what.
struct Request {
  workload::Model model;
  workload::Settings settings;
  std::string gpu;
  /// The name or file of a set of overheads; empty: the implementation's.
  std::string overheads;
  /// The least time of a kernel as a recorder shows it; 0: as it is.
  double recorder_latency_us = 0;
  /// GPUs over all nodes. With more than one, or with a platform, the servers
  /// are those of `platform`; empty: one that has the GPU.
  int gpus = 1;
  int nodes = 1;
  std::string platform;
  /// Servers without GPUs, `nodes` of them, instead of GPUs: a name of
  /// `stepcast list servers` or a file. The batch is then of all of them.
  std::string server{};
  /// What runs the operators there; empty: as the implementation does.
  std::string runtime{};
  /// Tables that are not worth the GPU's memory, if not all fit, are there:
  /// kHost or kRemote. Not given: they are where the model says. Without
  /// meaning on servers.
  std::optional<workload::Placement> hybrid{};
  /// Who has which table; not given: as the implementation deals them.
  std::optional<workload::TableDeal> deal{};
  /// The file that `deal` was read from; empty: from none. What changes the
  /// model or its ranks has to read it again.
  std::string plan{};
};

struct ModelPrediction {
  StepResult result;
  workload::Memory memory;  // Of the fullest rank.
  /// In memory, by rank of the graph.
  std::vector<double> rank_bytes;
  double memory_capacity = 0;
  double host_bytes = 0;     // Of tables, on a node.
  double host_capacity = 0;  // Of the node's memory.
  std::string overheads;     // The name of the set used.
  std::string gpu;           // Of the platform, if none was named; a server's
                             // name where there is none.
  std::string runtime{};     // What runs the operators of servers.
  std::string platform;      // Empty: one GPU of no server in particular.
  int64_t batch = 0;         // A GPU, or a rank of servers.
  int ranks = 1;             // GPUs, or processes on servers.
  double power_w = 0;        // Of all servers; 0: no server in particular.
  std::optional<double> price_usd{};
  std::vector<std::string> notes{};  // What a reader should know of it.

  bool fits() const {
    return memory.total() <= memory_capacity && host_bytes <= host_capacity;
  }
};

/// Not to be shared between threads; each has its own.
class Predictor {
 public:
  explicit Predictor(const std::vector<std::filesystem::path>& profiles = {})
      : profiles_(profiles), store_(profiles), collective_store_(profiles) {}

  Result<ModelPrediction> Predict(const Request& request,
                                  const PredictOptions& options);

  /// The models of a GPU ("a100-sxm-80gb", "v100-sxm-16gb@1297MHz"), loaded at
  /// most once. They stay where they are.
  Result<const cost::KernelModels*> Models(std::string_view gpu,
                                           double recorder_latency_us = 0);
  /// A set of overheads by name or file.
  Result<const cost::OverheadTable*> Overheads(std::string_view name);
  /// Collectives between the GPUs of servers.
  Result<const cost::CollectiveModels*> Collectives(std::string_view platform,
                                                    int gpus, int nodes);
  /// The same of servers without GPUs: operators of a process there, and
  /// collectives between the processes of `nodes` of them.
  Result<const cost::KernelModels*> ServerModels(std::string_view server,
                                                 std::string_view runtime);
  Result<const cost::CollectiveModels*> ServerCollectives(
      std::string_view server, std::string_view runtime, int nodes);

  /// Fails for a profile that is of other devices than all that were asked for
  /// so far, here or of `others` with the same profile: nobody read it.
  Status CheckProfiles(std::span<const Predictor* const> others = {}) const;

 private:
  Result<ModelPrediction> PredictOnServers(const Request& request,
                                           workload::Settings settings,
                                           const PredictOptions& options);
  /// Loads the models of a device and keeps them under `key`.
  Result<const cost::KernelModels*> AddModels(std::string key,
                                              const hw::Device& device,
                                              double recorder_latency_us);
  Result<const cost::CollectiveModels*> AddCollectives(
      std::string key, const hw::Cluster& cluster);

  std::vector<std::filesystem::path> profiles_;
  std::set<std::string> devices_;  // Whose folders in profiles were looked for.
  cost::ProfileStore store_;
  cost::CollectiveStore collective_store_;
  std::map<std::string, std::unique_ptr<cost::CollectiveModels>, std::less<>>
      collectives_;
  std::map<std::string, std::unique_ptr<cost::KernelModels>, std::less<>>
      models_;
  std::map<std::string, std::unique_ptr<cost::OverheadTable>, std::less<>>
      overheads_;
};

/// The platform that was named, or the smallest that has the GPU; empty for one
/// GPU of no server in particular. `gpu` becomes the platform's if it is empty.
Result<std::string> PlatformOf(const Request& request, std::string& gpu);

/// The nodes of a request, or, on a platform whose links go on from node to
/// node, all that its GPUs take where it says one.
Result<int> NodesOn(const std::string& platform, const Request& request);

/// What a rank of the request gets of its server, on a platform that was found
/// for it; empty: a workstation.
HostPricing HostPricingOf(const Request& request, const std::string& platform,
                          const hw::Device& device);

/// Published steps of one model and GPU differ by 3-10 % from server to server
/// and by 2-15 % from release to release; what a model file does not say of an
/// implementation adds to that. Chosen so that about 80 % of the published
/// steps lie between p10 and p90 (`stepcast eval steps`): no step was kept
/// back.
inline constexpr double kSystemSpread = 0.12;

/// The set of overheads that an implementation's hosts are best told by.
std::string_view DefaultOverheads(std::string_view impl);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_PREDICTOR_H_
