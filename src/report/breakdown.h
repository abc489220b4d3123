// Where the time of a rank's step went, for programs.
#ifndef STEPCAST_REPORT_BREAKDOWN_H_
#define STEPCAST_REPORT_BREAKDOWN_H_

#include <string>
#include <utility>
#include <vector>

#include "base/json_write.h"
#include "base/units.h"
#include "engine/account.h"

namespace stepcast::report {

/// The families of kernels that took time, the longest first. What the works
/// of a DLRM are best known by is short: "embedding", "optimizer".
std::vector<std::pair<std::string, Duration>> KernelTimes(
    const engine::RankAccount& account);

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
