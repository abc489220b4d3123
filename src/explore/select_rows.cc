#include "explore/select_rows.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/nearest.h"
#include "explore/where.h"

namespace stepcast::explore {
namespace {

struct Order {
  std::string_view column{};  // Empty: as they are.
  bool smallest_first = false;
};

Order OrderOf(const Selection& selection) {
  if (selection.by.empty()) {
    return {.column = selection.top ? "samples_per_s" : ""};
  }
  const std::string_view by = selection.by;
  return by.starts_with('-')
             ? Order{.column = by.substr(1), .smallest_first = true}
             : Order{.column = by};
}

}  // namespace

Status CheckSelection(const Study& study, const Selection& selection) {
  const std::vector<std::string> columns = ColumnNames(study);
  if (!selection.where.empty()) {
    ASSIGN_OR_RETURN(const Where where, Where::Parse(selection.where, columns));
  }
  const Order order = OrderOf(selection);
  if (!order.column.empty() &&
      std::ranges::find(columns, order.column) == columns.end()) {
    const std::vector<std::string_view> names(columns.begin(), columns.end());
    return Fail(ErrorCode::kInvalidInput,
                Unknown("column of --by", order.column, names));
  }
  return {};
}

Result<std::vector<int64_t>> SelectRows(const Explored& explored,
                                        const Selection& selection) {
  RETURN_IF_ERROR(CheckSelection(explored.study, selection));
  std::optional<Where> where;
  if (!selection.where.empty()) {
    ASSIGN_OR_RETURN(
        where, Where::Parse(selection.where, ColumnNames(explored.study)));
  }
  const Order order = OrderOf(selection);
  CellReader cells(explored);
  std::vector<std::pair<double, int64_t>> keyed;
  for (int64_t row = 0; row < std::ssize(explored.rows); ++row) {
    cells.Seek(row);
    if (where && !where->Holds(cells)) {
      continue;
    }
    double key = 0;
    if (!order.column.empty()) {
      const double number = cells.at(order.column).number.value_or(NAN);
      key = std::isnan(number) ? HUGE_VAL
                               : (order.smallest_first ? number : -number);
    }
    keyed.emplace_back(key, row);
  }
  std::ranges::sort(keyed);
  std::vector<int64_t> rows;
  for (const auto& [key, row] : keyed) {
    if (!selection.top || std::ssize(rows) < *selection.top) {
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace stepcast::explore
