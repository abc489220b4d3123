// From what is asked to what is run: every name is looked up here, once, and
// every default is set here.
#ifndef STEPCAST_SCENARIO_RESOLVE_H_
#define STEPCAST_SCENARIO_RESOLVE_H_

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/model_store.h"
#include "model/model.h"
#include "scenario/job.h"
#include "scenario/scenario.h"
#include "scenario/settings.h"

namespace stepcast::scenario {

/// What is meant if nothing is named.
inline constexpr std::string_view kDefaultModel = "dlrm_mlperf";
inline constexpr std::string_view kDefaultGpu = "a100-sxm-80gb";

/// Keeps what it has found and loaded for the next one. What it gives lives as
/// long as it does. Not to be shared between threads; each has its own.
class Resolver {
 public:
  /// Profiles are directories that `stepcast fit` wrote.
  explicit Resolver(const std::vector<std::filesystem::path>& profiles = {})
      : store_(profiles) {}

  /// Fails for values that are none, names that nothing has, machines that do
  /// not go together, and settings that the job makes nothing of. The workload
  /// is a model. The models of the machine are left to Load.
  Result<Job> Resolve(const Scenario& scenario);

  /// Finds what the names of the job mean as they are now: after a change.
  Status Bind(Job& job);

  /// Gives the machine of a job its models.
  Status Load(engine::Machine& machine);

  /// A set of overheads by name or file.
  Result<Named<cost::OverheadTable>> Overheads(const std::string& name);

  cost::ModelStore& store() { return store_; }
  const cost::ModelStore& store() const { return store_; }

 private:
  Result<const model::Model*> FindModel(const std::string& name);
  Status BindMachine(Job& job);
  Status BindServers(Servers& servers);
  Result<Named<hw::Node>> Server(const std::string& name);

  cost::ModelStore store_;
  std::map<std::string, model::Model, std::less<>> models_;
  std::map<std::string, engine::Machine, std::less<>> machines_;
  std::map<std::string, Named<hw::Node>, std::less<>> servers_;
  std::map<std::string, Named<cost::OverheadTable>, std::less<>> overheads_;
};

/// Only where times come from and how they are drawn, as of recorded steps.
Result<Job> ResolveTimes(const Scenario& scenario);

/// Fails for figures of a platform that the job does not come to: an adapter's
/// rate on one node, the host's memory without tables in it. Studies may vary
/// those, and find that nothing changes.
Status CheckFigures(const Scenario& scenario, const Job& job);

/// Fails for figures of a GPU that a recorded step does not come to: that of
/// its links, as collectives keep their measured time.
Status CheckRecordedGpu(const hw::Device& gpu);

/// Sets one setting of a job that there is, which is then to be bound again.
Status Change(const Setting& setting, std::string_view text, Job& job);

/// Fails where the job, as all changes leave it, makes nothing of the setting.
Status CheckEffect(const Setting& setting, const Job& job);

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_RESOLVE_H_
