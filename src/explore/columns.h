// The columns of a study's rows: settings, then what was predicted.
#ifndef STEPCAST_EXPLORE_COLUMNS_H_
#define STEPCAST_EXPLORE_COLUMNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explore/row.h"
#include "explore/study.h"

namespace stepcast::explore {

/// "row", "point" if there are any, every setting that the study names, the
/// predicted numbers, "bound_by", "note".
std::vector<std::string> ColumnNames(const Study& study);

/// The unit of a column of numbers, "" for shares and counts; nothing for one
/// of words.
std::optional<std::string_view> UnitOfColumn(std::string_view column);

/// Settings that differ from row to row: "point", then those of the axes.
std::vector<std::string> VaryingColumns(const Study& study);

struct Cell {
  std::string text{};  // Empty: not known, or not there.
  std::optional<double> number{};
};

/// A study with the rows that were predicted, in the study's order.
struct Explored {
  Study study{};
  std::vector<Row> rows{};
};

/// The cells of one row after another, by the name of a column. What it refers
/// to must live as long.
class CellReader {
 public:
  explicit CellReader(const Explored& explored)
      : explored_(explored), designer_(explored.study) {}
  /// The row that is read from now on.
  void Seek(int64_t row);
  Cell at(std::string_view column) const;
  const std::vector<Setting>& settings() const { return settings_; }
  const Row& row() const { return explored_.rows[static_cast<size_t>(row_)]; }

 private:
  const Explored& explored_;
  Designer designer_;
  int64_t row_ = 0;
  std::vector<size_t> values_;
  std::vector<Setting> settings_;
};

/// A number as it is shown: six digits, no more.
std::string NumberText(double number);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_COLUMNS_H_
