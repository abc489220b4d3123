// Which changes are tried on a workload.
#ifndef STEPCAST_WHATIF_TRIES_H_
#define STEPCAST_WHATIF_TRIES_H_

#include <string>
#include <vector>

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

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_TRIES_H_
