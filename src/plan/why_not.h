// Why no plan fits, and what would.
#ifndef STEPCAST_PLAN_WHY_NOT_H_
#define STEPCAST_PLAN_WHY_NOT_H_

#include <string>
#include <vector>

#include "plan/problem.h"

namespace stepcast::plan {

/// What stands in the way.
enum class Binding {
  kOtherMemory,  // The step needs more than there is without any table.
  kTable,        // A table has no way that fits a rank.
  kTotal,        // All tables together are more than all ranks hold.
  kRank,         // They would fit in sum, but the fullest rank has too much.
};

struct WhyNot {
  Binding binding = Binding::kRank;
  double over_bytes = 0;            // By how much.
  std::string table{};              // Of kTable.
  std::vector<std::string> ways{};  // To make it fit, each alone.

  /// One line: what binds and by how much.
  std::string Text(const Problem& problem) const;
};

/// Of a problem where `nearest`, the plan that exceeds least, does not fit.
WhyNot FindWhyNot(const Problem& problem, const Choices& nearest);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_WHY_NOT_H_
