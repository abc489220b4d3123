// Which rows are wanted: "samples_per_s > 1e6 and fits".
#ifndef STEPCAST_EXPLORE_WHERE_H_
#define STEPCAST_EXPLORE_WHERE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "explore/row.h"

namespace stepcast::explore {

/// A condition on the cells of a row.
class Where {
 public:
  /// Columns compared with <, <=, >, >=, =, != to a number, with or without a
  /// unit (step_us < 2ms), or with = and != to a word ('with blanks' in
  /// quotes), or alone: fits. Joined by and, or, not and
  /// parentheses. Fails at columns that are none of `columns`.
  static Result<Where> Parse(std::string_view text,
                             const std::vector<std::string>& columns);

  /// Whether it holds; what is not known compares as false.
  bool Holds(const CellReader& cells) const;

  struct Node;

 private:
  explicit Where(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_WHERE_H_
