// How well collective models predict measured collectives.
#ifndef STEPCAST_LEARN_JUDGE_COLLECTIVE_ACCURACY_H_
#define STEPCAST_LEARN_JUDGE_COLLECTIVE_ACCURACY_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stats.h"
#include "cost/collectives/collective_store.h"
#include "hw/node.h"
#include "learn/measured/collective_rows.h"

namespace stepcast::learn {

/// Rows of one kind on one system, or of all systems.
struct CollectiveLine {
  std::string system;
  std::string kind;
  bool over_network = false;
  ErrorSummary ours;
  ErrorSummary formula;    // Constants of all systems, no curve.
  double in_interval = 0;  // Share of the rows between p10 and p90.
};

struct CollectiveAccuracy {
  std::vector<CollectiveLine> lines;   // By system and kind.
  std::vector<CollectiveLine> totals;  // By kind.
};

/// Prices every row by the curves of its own system and compares. Only rows of
/// `part`, if one is given.
Result<CollectiveAccuracy> EvaluateCollectives(
    const CollectiveRows& rows, const cost::CollectiveStore& store,
    std::span<const hw::Node> platforms, std::optional<Part> part);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_JUDGE_COLLECTIVE_ACCURACY_H_
