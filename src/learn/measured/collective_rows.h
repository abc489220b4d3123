// Measured times of collectives, from CSV files.
#ifndef STEPCAST_LEARN_MEASURED_COLLECTIVE_ROWS_H_
#define STEPCAST_LEARN_MEASURED_COLLECTIVE_ROWS_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/shape.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {

/// One measured collective.
struct CollectiveRow {
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  ir::DType dtype = ir::DType::kUnknown;
  int ranks = 0;
  int nodes = 1;
  /// As benchmarks count: the buffer of an all-reduce, what a rank sends by
  /// all-to-all, the gathered or scattered buffer, the message.
  double bytes = 0;
  double time_us = 0;
  uint16_t system = 0;  // Of CollectiveRows::systems.
  uint16_t table = 0;   // Of CollectiveRows::tables.
  uint32_t line = 0;
};

struct CollectiveRows {
  std::vector<std::string> tables{};   // Files.
  std::vector<std::string> systems{};  // "h200-sxm-141gb/single-node".
  std::vector<CollectiveRow> rows{};
  std::vector<SkippedRow> skipped{};
};

/// Reads the CSV files, and those in directories, that have a column
/// 'collective'; others are passed by. A row that makes no sense is skipped
/// with its reason.
Result<CollectiveRows> ReadCollectiveRows(
    std::span<const std::filesystem::path> paths);

/// The same for one text, as if it were in the file `source`.
Status AddCollectiveRows(std::string text, std::string source,
                         CollectiveRows& rows);

/// Which part of a fit a row belongs to, by its kind, bytes and ranks: all
/// measurements of one size stand on one side, whatever the system.
Part PartOf(const CollectiveRow& row);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_MEASURED_COLLECTIVE_ROWS_H_
