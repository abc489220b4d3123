// From what is asked to what is run: every name is looked up here, once, and
// every default is set here.
#ifndef STEPCAST_SCENARIO_RESOLVE_H_
#define STEPCAST_SCENARIO_RESOLVE_H_

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "scenario/job.h"
#include "scenario/scenario.h"
#include "scenario/settings.h"
#include "workload/model.h"

namespace stepcast::scenario {

/// What is meant if nothing is named.
inline constexpr std::string_view kDefaultModel = "dlrm_mlperf";
inline constexpr std::string_view kDefaultGpu = "a100-sxm-80gb";

/// Keeps the models that it has found. Not to be shared between threads.
class Resolver {
 public:
  /// Fails for values that are none, names that nothing has, machines that do
  /// not go together, and settings that the job makes nothing of. The workload
  /// is a model.
  Result<Job> Resolve(const Scenario& scenario);

 private:
  Result<const workload::Model*> FindModel(const std::string& name);

  std::map<std::string, workload::Model, std::less<>> models_;
};

/// Once.
Result<Job> Resolve(const Scenario& scenario);

/// Only where times come from and how they are drawn, as of recorded steps.
Result<Job> ResolveTimes(const Scenario& scenario);

/// Fails for figures of a platform that the job does not come to: an adapter's
/// rate on one node, the host's memory without tables in it. Studies may vary
/// those, and find that nothing changes.
Status CheckFigures(const Scenario& scenario, const Job& job);

/// Fails for figures of a GPU that a recorded step does not come to: that of
/// its links, as collectives keep their measured time.
Status CheckRecordedGpu(std::string_view gpu);

/// Sets one setting of a request that there is.
Status Change(const Setting& setting, std::string_view text,
              engine::Request& request);

/// Fails where the request, as all changes leave it, makes nothing of the
/// setting.
Status CheckEffect(const Setting& setting, const engine::Request& request);

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_RESOLVE_H_
