// The rows that no other beats: more of one thing at no higher price.
#ifndef STEPCAST_EXPLORE_PARETO_H_
#define STEPCAST_EXPLORE_PARETO_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "explore/columns.h"

namespace stepcast::explore {

/// What a front is of.
struct ParetoColumns {
  Number more = Number::kSamplesPerS;
  Number less = Number::kPowerW;
};

/// As the study says, else the first of power and memory that any row knows;
/// nothing if none does.
std::optional<ParetoColumns> FindParetoColumns(const Explored& explored);

/// The rows of the front, the cheapest first. Of equal rows the first.
std::vector<int64_t> ParetoFront(std::span<const Row> rows,
                                 const ParetoColumns& columns);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_PARETO_H_
