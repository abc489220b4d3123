// The CSV files: columns of each kind, and rows as text.
#ifndef STEPCAST_COLLECT_CUDA_TABLE_H_
#define STEPCAST_COLLECT_CUDA_TABLE_H_

#include <string>
#include <vector>

#include "collect/cuda/point.h"
#include "collect/cuda/statistics.h"

namespace stepcast::collect {

/// Who measured where: what is the same in all rows.
struct RowContext {
  std::string gpu{};
  std::string system{};  // Of collectives.
};

/// The first line of a kind's file.
std::string HeaderOf(Kind kind);

/// One line without its end. `unique_rows` is of bags; 0 leaves it out.
std::string RowOf(const Point& point, const RowContext& context,
                  const Summary& summary, const std::string& timing,
                  int64_t unique_rows);

/// A finished row and the kind of its file.
struct TableRow {
  std::string kind{};
  std::string line{};
};

/// Writes <out>/<kind>/<gpu>.csv with all rows, each file in one go: a reader
/// or a kill finds the old file or the new one. Says what went wrong, or
/// nothing.
std::string WriteTables(const std::string& out, const std::string& gpu,
                        const std::vector<TableRow>& rows);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_TABLE_H_
