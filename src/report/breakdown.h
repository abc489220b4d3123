// Where the time of a rank's step went, for programs.
#ifndef STEPCAST_REPORT_BREAKDOWN_H_
#define STEPCAST_REPORT_BREAKDOWN_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_write.h"
#include "base/units.h"
#include "engine/account.h"

namespace stepcast::report {

/// Names of what a step was spent on, and the time of each.
using StepParts = std::vector<std::pair<std::string, Duration>>;

/// The families of kernels that took time, the longest first. What the works
/// of a DLRM are best known by is short: "embedding", "optimizer".
StepParts KernelTimes(const engine::RankAccount& account);

/// Where a rank's step went, by the names of the JSON: families of kernels,
/// "memcpy_exposed", "communication_exposed", "idle host", "idle launch",
/// "idle sync", "idle wait_for_rank". Sums to the step.
StepParts PartsOf(const engine::RankAccount& account);

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

/// {"gemm": 1.5, ..., "memcpy_exposed": ..., "communication_exposed": ...,
/// "idle": {"host": ..., "launch": ..., "sync": ..., "wait_for_rank": ...}} in
/// microseconds; sums to the step. Families without time are left out but for
/// those that every DLRM has.
void WriteBreakdown(JsonWriter& json, const engine::RankAccount& account);

/// {"t1": ..., ..., "t5": ..., "no_launch": ..., "hand_over": ...}, summed over
/// the rank's threads, in microseconds.
void WriteOverheads(JsonWriter& json, const engine::RankAccount& account);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_BREAKDOWN_H_
