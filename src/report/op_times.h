// What the ops of a step took, by name.
#ifndef STEPCAST_REPORT_OP_TIMES_H_
#define STEPCAST_REPORT_OP_TIMES_H_

#include <cstddef>
#include <map>
#include <string>

#include "base/json_value.h"
#include "base/units.h"
#include "engine/step_result.h"
#include "view/doc.h"

namespace stepcast::report {

/// All times that an op of one name took on the slowest rank.
struct OpTimes {
  size_t count = 0;   // Top-level ops called so.
  Duration host{};    // Its pieces, without the time before it.
  Duration device{};  // Works that it launched.
};

/// By short name.
using OpTable = std::map<std::string, OpTimes>;

/// Of the slowest rank, with the times that the step was simulated with.
OpTable SumOps(const engine::StepResult& result);

/// For programs: "ops", which ReadOps reads.
view::Table OpsTable(const OpTable& ops);
OpTable ReadOps(const JsonValue& array);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_OP_TIMES_H_
