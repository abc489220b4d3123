// A better sharding of a model's tables than the one it has.
#ifndef STEPCAST_WHATIF_SHARDING_H_
#define STEPCAST_WHATIF_SHARDING_H_

#include <optional>
#include <string>

#include "scenario/resolve.h"
#include "whatif/apply.h"
#include "whatif/case.h"

namespace stepcast::whatif {

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

#endif  // STEPCAST_WHATIF_SHARDING_H_
