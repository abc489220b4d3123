// What is known of one scenario: numbers and words, a column each.
#ifndef STEPCAST_EXPLORE_ROW_H_
#define STEPCAST_EXPLORE_ROW_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "explore/study.h"

namespace stepcast::explore {

/// The numbers of a row. Shares are between 0 and 1. "Trainers" are the servers
/// that run the model, with GPUs or without; "sparse" and "dense" are servers
/// that hold tables and dense parameters.
enum class Number : uint8_t {
  kSamplesPerS,
  kStepUs,
  kP10Us,
  kP50Us,
  kP90Us,
  kGpuActive,
  kHostBusy,
  kGemmUs,
  kEmbeddingUs,
  kInteractionUs,
  kElementwiseUs,
  kOptimizerUs,
  kOtherUs,
  kCopiesUs,
  kCommunicationUs,
  kIdleHostUs,
  kIdleLaunchUs,
  kIdleSyncUs,
  kIdleWaitUs,
  kHbmGb,
  kHbmCapacityGb,
  kHostGb,
  kHostCapacityGb,
  kServersGb,
  kServersCapacityGb,
  kFits,
  kTrainerCpu,
  kTrainerMemory,
  kTrainerNetwork,
  kSparseCpu,
  kSparseMemory,
  kSparseNetwork,
  kDenseCpu,
  kDenseMemory,
  kDenseNetwork,
  kPowerW,
  kSamplesPerJoule,
  kSamplesPerDollar,
};
inline constexpr size_t kNumberCount = 38;

struct NumberColumn {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
};
/// By Number.
std::span<const NumberColumn> NumberColumns();
/// The number of a column called so.
std::optional<Number> FindNumber(std::string_view name);

struct Row {
  /// By Number; not a number: not known, or not there.
  std::array<double, kNumberCount> numbers = [] {
    std::array<double, kNumberCount> none{};
    none.fill(std::numeric_limits<double>::quiet_NaN());
    return none;
  }();
  std::string bound_by{};  // "embedding", "host", "sparse servers: network".
  std::string note{};      // Why there is no time, what does not fit.

  double at(Number number) const {
    return numbers[static_cast<size_t>(number)];
  }
  double& at(Number number) { return numbers[static_cast<size_t>(number)]; }
  bool fits() const { return at(Number::kFits) == 1; }
};

/// One line that reads back as the same row.
std::string RowText(const Row& row);
/// Nothing if it is no such line.
std::optional<Row> ParseRow(std::string_view text);

// The columns of a study's rows: settings, then what was predicted.

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

#endif  // STEPCAST_EXPLORE_ROW_H_
