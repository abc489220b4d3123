// Which changes are tried on a workload.
#ifndef STEPCAST_WHATIF_TRIES_H_
#define STEPCAST_WHATIF_TRIES_H_

#include <optional>
#include <string>
#include <vector>

#include "scenario/resolve.h"
#include "whatif/apply.h"
#include "whatif/case.h"

namespace stepcast::whatif {

struct Try {
  std::string change{};
  /// The gain is an upper bound whatever the change says itself.
  bool bound = false;
  /// Why nobody could do it; empty: it is tried.
  std::string why_not{};
};

/// All that have values to try and are known to make sense here, with those of
/// the step's own ops: the calls that wait longest, each, and what loads its
/// data. Of those of one kind that do the same the simpler one comes first.
/// With `hypothetical`, also what nobody can do as such: a faster host, and
/// the families of kernels that take longest at twice the speed.
std::vector<Try> ChangesToTry(const Case& subject, bool hypothetical);

// A better sharding of a model's tables than the one it has.

struct Resharded {
  Changed changed;
  /// Who made the plan, and what TorchRec's planner would come to.
  std::string where{};
};

/// The step with the better plan of TorchRec's planner and of ours, after a
/// short search: `stepcast plan` finds as good a one or a better. Nothing
/// for workloads without plans, or with one already.
std::optional<Resharded> TrySharding(const Case& before,
                                     scenario::Resolver& resolver);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_TRIES_H_
