// Where the time of a rank's step went, for programs.
#ifndef STEPCAST_VIEW_REPORTS_BREAKDOWN_H_
#define STEPCAST_VIEW_REPORTS_BREAKDOWN_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json_value.h"
#include "base/units.h"
#include "engine/explain/account.h"
#include "engine/explain/step_result.h"
#include "view/doc.h"

namespace stepcast::view {

// What the ops of a step took, by name.

/// All times that an op of one name took on the slowest rank.
struct OpTimes {
  size_t count = 0;   // Top-level ops called so.
  Duration host{};    // Its segments, without the time before it.
  Duration device{};  // Activities that it launched.
};

/// By short name.
using OpTable = std::map<std::string, OpTimes>;

/// Of the slowest rank, with the times that the step was simulated with.
OpTable SumOps(const engine::StepResult& result);

/// For programs: "ops", which ReadOps reads.
Table OpsTable(const OpTable& ops);
OpTable ReadOps(const JsonValue& array);

/// Names of what a step was spent on, and the time of each.
using StepParts = std::vector<std::pair<std::string, Duration>>;

/// The families of kernels that took time, the longest first. What the
/// activities of a DLRM are best known by is short: "embedding", "optimizer".
StepParts KernelTimes(const engine::RankAccount& account);

/// Where a rank's step went, by the names of the JSON: families of kernels,
/// "memcpy_exposed", "communication_exposed", "idle host", "idle launch",
/// "idle sync", "idle wait_for_rank". Sums to the step.
StepParts PartsOf(const engine::RankAccount& account);

/// The same for programs: keys of objects in each other have a dot between
/// them ("idle.host"). Families without time are left out but for those that
/// every DLRM has.
StepParts BreakdownOf(const engine::RankAccount& account);

/// What the host's time was spent on, summed over the rank's threads: "t1" to
/// "t5", "no_launch", "handoff".
StepParts OverheadsOf(const engine::RankAccount& account);

/// For people: "idle: host busy" of "idle host"; families keep their name.
std::string_view PartText(std::string_view part);

/// A part of two steps.
struct PartDifference {
  std::string name;
  Duration a{};
  Duration b{};
  Duration delta() const { return b - a; }
};

/// Parts that either has, as the first has them, then what only the second has.
std::vector<PartDifference> DifferencesOf(const StepParts& a,
                                          const StepParts& b);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_BREAKDOWN_H_
