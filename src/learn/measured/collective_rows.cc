#include "learn/measured/collective_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "ir/names.h"
#include "learn/measured/csv.h"

namespace stepcast::learn {
namespace {

using ir::CollectiveKind;

constexpr std::array<std::string_view, 8> kCollectiveColumns = {
    "gpu",      "system",    "collective", "dtype",
    "num_gpus", "num_nodes", "bytes",      "time_us"};
enum { kGpu, kSystem, kKind, kDtype, kRanks, kNodes, kBytes, kTime };

// More ranks than any job has.
constexpr int64_t kMostRanks = 1 << 20;

Result<CollectiveKind> KindFrom(std::string_view text) {
  // nccl-tests writes it as one word.
  const auto kind = text == "alltoall"
                        ? std::optional(CollectiveKind::kAllToAll)
                        : ir::FromName<CollectiveKind>(text);
  if (!kind || *kind == CollectiveKind::kUnknown) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("collective is '{}'; expected all_reduce, "
                            "alltoall, all_gather, ...",
                            text));
  }
  return *kind;
}

Result<int64_t> CountFrom(std::string_view cell, std::string_view column) {
  const auto count = CellInt(cell);
  if (!count || *count < 1 || *count > kMostRanks) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} is '{}'; expected a whole number above 0",
                            column, cell));
  }
  return *count;
}

Result<double> PositiveFrom(std::string_view cell, std::string_view column) {
  const auto number = CellNumber(cell);
  // A petabyte, or 30 years: another unit.
  if (!number || !(*number > 0) || *number > 1e15) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("{} is '{}'; expected a number above 0", column, cell));
  }
  return *number;
}

Result<CollectiveRow> ReadRow(std::span<const std::string_view> cells) {
  CollectiveRow row;
  ASSIGN_OR_RETURN(row.kind, KindFrom(cells[kKind]));
  row.dtype = ir::DTypeFromName(cells[kDtype]).value_or(ir::DType::kUnknown);
  ASSIGN_OR_RETURN(const int64_t ranks, CountFrom(cells[kRanks], "num_gpus"));
  ASSIGN_OR_RETURN(const int64_t nodes, CountFrom(cells[kNodes], "num_nodes"));
  if (ranks < 2 || ranks % nodes != 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} GPUs on {} nodes; expected two or more, as "
                            "many on each",
                            ranks, nodes));
  }
  row.ranks = static_cast<int>(ranks);
  row.nodes = static_cast<int>(nodes);
  ASSIGN_OR_RETURN(row.bytes, PositiveFrom(cells[kBytes], "bytes"));
  ASSIGN_OR_RETURN(row.time_us, PositiveFrom(cells[kTime], "time_us"));
  return row;
}

Status AddTable(const CsvTable& table, CollectiveRows& rows) {
  ASSIGN_OR_RETURN(const std::vector<size_t> places,
                   table.FindColumns(kCollectiveColumns));
  const auto number = static_cast<uint16_t>(rows.tables.size());
  rows.tables.push_back(table.source());
  std::vector<std::string_view> cells(places.size());
  for (size_t i = 0; i < table.row_count(); ++i) {
    for (size_t c = 0; c < places.size(); ++c) {
      cells[c] = table.row(i)[places[c]];
    }
    auto row = ReadRow(cells);
    if (!row) {
      rows.skipped.push_back({.table = number,
                              .line = table.line(i),
                              .why = std::move(row).error().message});
      continue;
    }
    const std::string system =
        fmt::format("{}/{}", cells[kGpu], cells[kSystem]);
    auto found = std::ranges::find(rows.systems, system);
    if (found == rows.systems.end()) {
      found = rows.systems.insert(rows.systems.end(), system);
    }
    row->system = static_cast<uint16_t>(found - rows.systems.begin());
    row->table = number;
    row->line = table.line(i);
    rows.rows.push_back(*row);
  }
  return {};
}

}  // namespace

Result<CollectiveRows> ReadCollectiveRows(
    std::span<const std::filesystem::path> paths) {
  CollectiveRows rows;
  for (const std::filesystem::path& path : paths) {
    ASSIGN_OR_RETURN(const auto files, ListCsvFiles(path));
    for (const std::filesystem::path& file : files) {
      ASSIGN_OR_RETURN(std::string text, ReadFile(file));
      // The header is short and enough to reject most files.
      const std::string_view header =
          std::string_view(text).substr(0, text.find('\n'));
      if (header.find("collective") == std::string_view::npos) {
        continue;
      }
      RETURN_IF_ERROR(AddCollectiveRows(std::move(text), file.string(), rows));
    }
  }
  return rows;
}

Status AddCollectiveRows(std::string text, std::string source,
                         CollectiveRows& rows) {
  ASSIGN_OR_RETURN(const CsvTable table,
                   CsvTable::Parse(std::move(text), std::move(source)));
  return AddTable(table, rows);
}

Part PartOf(const CollectiveRow& row) {
  return PartOf(
      ir::KernelShape(ir::Collective{.kind = row.kind,
                                     .bytes = {static_cast<int64_t>(row.bytes)},
                                     .group_size = row.ranks}));
}

}  // namespace stepcast::learn
