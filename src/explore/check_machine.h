// Whether the machine of a row can be.
#ifndef STEPCAST_EXPLORE_CHECK_MACHINE_H_
#define STEPCAST_EXPLORE_CHECK_MACHINE_H_

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "scenario/job.h"

namespace stepcast::explore {

/// Not to be shared between threads.
class MachineChecker {
 public:
  /// Fails where no such machine exists: GPUs that a server has not, nodes
  /// without a network. Looks at each machine once. `placement` is as the
  /// scenario has it.
  Status Check(const scenario::Job& job, std::string_view placement);

 private:
  std::set<std::string, std::less<>> machines_;
};

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_CHECK_MACHINE_H_
