#include "explore/pareto.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace stepcast::explore {

std::optional<ParetoColumns> FindParetoColumns(const Explored& explored) {
  ParetoColumns columns;
  columns.more =
      FindNumber(explored.study.pareto.more).value_or(Number::kSamplesPerS);
  if (const auto less = FindNumber(explored.study.pareto.less)) {
    columns.less = *less;
    return columns;
  }
  for (const Number less : {Number::kPowerW, Number::kHbmGb}) {
    columns.less = less;
    if (std::ranges::any_of(explored.rows, [&](const Row& row) {
          return !std::isnan(row.at(less)) && !std::isnan(row.at(columns.more));
        })) {
      return columns;
    }
  }
  return std::nullopt;
}

std::vector<int64_t> ParetoFront(std::span<const Row> rows,
                                 const ParetoColumns& columns) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < std::ssize(rows); ++i) {
    const Row& row = rows[static_cast<size_t>(i)];
    if (!std::isnan(row.at(columns.more)) &&
        !std::isnan(row.at(columns.less))) {
      order.push_back(i);
    }
  }
  const auto key = [&](int64_t i) {
    const Row& row = rows[static_cast<size_t>(i)];
    return std::tuple(row.at(columns.less), -row.at(columns.more), i);
  };
  std::ranges::sort(order, {}, key);
  std::vector<int64_t> front;
  double best = -1;
  for (const int64_t i : order) {
    const double more = rows[static_cast<size_t>(i)].at(columns.more);
    if (more > best) {
      best = more;
      front.push_back(i);
    }
  }
  return front;
}

}  // namespace stepcast::explore
