// Reading CSV tables by the names of their columns.
#ifndef STEPCAST_LEARN_MEASURED_CSV_H_
#define STEPCAST_LEARN_MEASURED_CSV_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepcast::learn {

// Finding CSV files in what the user names.

/// A file as it is; of a directory all .csv files in it, recursively, by name.
/// A directory without any is an error.
Result<std::vector<std::filesystem::path>> ListCsvFiles(
    const std::filesystem::path& path);

/// A table in memory: a header and rows of as many cells. Quoted cells may hold
/// commas, doubled quotes and line ends.
class CsvTable {
 public:
  /// Fails on a row with another number of cells than the header, naming its
  /// line. `source` is the file's name in messages.
  static Result<CsvTable> Parse(std::string text, std::string source);

  const std::string& source() const { return source_; }
  std::span<const std::string_view> header() const { return header_; }
  size_t row_count() const { return lines_.size(); }
  /// The line of the file on which a row starts, from 1.
  uint32_t line(size_t row) const { return lines_[row]; }
  std::span<const std::string_view> row(size_t row) const {
    return std::span(cells_).subspan(row * header_.size(), header_.size());
  }

  /// The place of a column, if there is one of that name.
  std::optional<size_t> FindColumn(std::string_view name) const;
  /// The same, or an error that says which columns are missing of `names`.
  Result<std::vector<size_t>> FindColumns(
      std::span<const std::string_view> names) const;

 private:
  std::string source_;
  std::vector<std::string_view> header_;
  std::vector<std::string_view> cells_;
  std::vector<uint32_t> lines_;
  // What the views point into; kept apart so that a move leaves them valid.
  std::vector<std::unique_ptr<std::string>> texts_;
};

/// A cell as a number; nothing if it is anything else, or not finite.
std::optional<double> CellNumber(std::string_view cell);
std::optional<int64_t> CellInt(std::string_view cell);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_MEASURED_CSV_H_
