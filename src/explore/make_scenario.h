// From settings to a scenario, and whether its machine can be.
#ifndef STEPCAST_EXPLORE_MAKE_SCENARIO_H_
#define STEPCAST_EXPLORE_MAKE_SCENARIO_H_

#include <map>
#include <set>
#include <span>
#include <string>

#include "base/result.h"
#include "explore/scenario.h"
#include "explore/setting.h"
#include "workload/model.h"

namespace stepcast::explore {

/// Keeps the models it has found. Not to be shared between threads.
class ScenarioMaker {
 public:
  /// `settings` are in the order of their kinds and name a model.
  Result<Scenario> Make(std::span<const Setting> settings);

  /// Fails where no such machine exists: GPUs that a server has not, nodes
  /// without a network. Asked for each machine once.
  Status CheckMachine(const Scenario& scenario);

 private:
  static Status CheckServers(const Servers& servers);
  Result<const workload::Model*> FindModel(const std::string& name);

  std::map<std::string, workload::Model, std::less<>> models_;
  std::set<std::string, std::less<>> machines_;
};

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_MAKE_SCENARIO_H_
