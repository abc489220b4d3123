// Which rows of a study are shown, and in which order.
#ifndef STEPCAST_EXPLORE_SELECT_ROWS_H_
#define STEPCAST_EXPLORE_SELECT_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "explore/columns.h"

namespace stepcast::explore {

struct Selection {
  std::string where{};           // Empty: all.
  std::optional<int64_t> top{};  // So many at most.
  /// A column: the largest first, "-NAME" the smallest; empty: the study's
  /// order, or with `top` the most samples a second.
  std::string by{};
};

/// Fails for a condition or a column that there is not. Rows without a number
/// in the column come last.
Result<std::vector<int64_t>> SelectRows(const Explored& explored,
                                        const Selection& selection);

/// Fails as SelectRows would, before anything was predicted.
Status CheckSelection(const Study& study, const Selection& selection);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_SELECT_ROWS_H_
