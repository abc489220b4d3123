// How the columns of each kind of kernel CSV become a shape: one row a kind.
#ifndef STEPCAST_MEASUREMENTS_ROW_SHAPES_H_
#define STEPCAST_MEASUREMENTS_ROW_SHAPES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/rules.h"
#include "ir/shape.h"
#include "measurements/csv.h"

namespace stepcast::measurements {

/// What one row says, beside its time.
struct RowShape {
  ir::KernelShape shape{};
  std::vector<ir::KernelShape> more{};  // Kernels whose time is in it, too.
  std::string op;                       // Rows of one op share a launch floor.
};

/// The cells of one row that its kind asked for, in the order of its columns.
using Cells = std::span<const std::string_view>;

/// A kind of CSV file.
struct RowKind {
  std::string_view name;                      // Also the usual folder's name.
  std::span<const std::string_view> columns;  // What tells it, and it reads.
  /// The shape, or an error that says what is wrong with the row.
  Result<RowShape> (*read)(Cells cells, const ingest::Rules& rules) = nullptr;
};

std::span<const RowKind> RowKinds();

/// The kind of a table: the first whose columns are all there, one whose name
/// is in the path before the others.
Result<const RowKind*> FindRowKind(const CsvTable& table);

}  // namespace stepcast::measurements

#endif  // STEPCAST_MEASUREMENTS_ROW_SHAPES_H_
