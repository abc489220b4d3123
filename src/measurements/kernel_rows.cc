#include "measurements/kernel_rows.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/join.h"
#include "ir/shape_set.h"
#include "measurements/csv.h"
#include "measurements/csv_files.h"
#include "measurements/row_shapes.h"

namespace stepcast::measurements {
namespace {

constexpr std::array<std::string_view, 4> kTimings = {"event_op", "graph",
                                                      "profiler", "loop"};

// The place of `name` in a list of names, added if it is new.
uint16_t Intern(std::vector<std::string>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) {
    return static_cast<uint16_t>(found - names.begin());
  }
  names.emplace_back(name);
  return static_cast<uint16_t>(names.size() - 1);
}

// Measurements of other things, which other commands read.
bool IsForeign(const CsvTable& table) {
  return table.FindColumn("launch").has_value() ||
         table.FindColumn("step_time_us").has_value() ||
         table.FindColumn("step_time_ms").has_value() ||
         table.FindColumn("time_ms").has_value();
}

// Columns every kind has.
struct Common {
  size_t gpu = 0;
  size_t time = 0;
  size_t timing = 0;
  std::optional<size_t> count;
};

Result<Common> FindCommon(const CsvTable& table) {
  constexpr std::array<std::string_view, 3> kNames = {"gpu", "time_us",
                                                      "timing"};
  ASSIGN_OR_RETURN(const std::vector<size_t> places, table.FindColumns(kNames));
  return Common{.gpu = places[0],
                .time = places[1],
                .timing = places[2],
                .count = table.FindColumn("count")};
}

// Turns the rows of one table into ours.
class TableReader {
 public:
  TableReader(const CsvTable& table, const RowKind& kind, const Common& common,
              const ingest::Rules& rules, KernelRows& rows)
      : table_(table),
        kind_(kind),
        common_(common),
        rules_(rules),
        rows_(rows) {
    rows_.tables.push_back(table.source());
    rows_.kinds.emplace_back(kind.name);
    for (const std::string_view column : kind.columns) {
      places_.push_back(*table.FindColumn(column));
    }
    cells_.resize(places_.size());
  }

  void ReadAll() {
    for (size_t i = 0; i < table_.row_count(); ++i) {
      if (auto status = Read(i); !status) {
        rows_.skipped.push_back({.table = TableNumber(),
                                 .line = table_.line(i),
                                 .why = std::move(status).error().message});
      }
    }
  }

 private:
  uint16_t TableNumber() const {
    return static_cast<uint16_t>(rows_.tables.size() - 1);
  }

  Status Read(size_t i) {
    const auto cells = table_.row(i);
    // Tables are megabytes of short lines: a repeated line is a copy.
    const std::string_view line(
        cells.front().data(),
        static_cast<size_t>(cells.back().data() + cells.back().size() -
                            cells.front().data()));
    if (!seen_.insert(line).second) {
      return Fail(ErrorCode::kInvalidInput, "the same line as an earlier one");
    }
    const auto time = CellNumber(cells[common_.time]);
    if (!time || !(*time > 0)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("time_us is '{}'; expected a number above 0",
                              cells[common_.time]));
    }
    const auto timing = TimingFromName(cells[common_.timing]);
    if (!timing) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("timing is '{}'; expected {}",
                              cells[common_.timing], Join(kTimings, ", ")));
    }
    for (size_t c = 0; c < places_.size(); ++c) {
      cells_[c] = cells[places_[c]];
    }
    ASSIGN_OR_RETURN(RowShape shape, kind_.read(cells_, rules_));
    if (!ir::IsSized(shape.shape)) {
      return Fail(ErrorCode::kUnsupported, "the sizes are not all known");
    }
    KernelRow row{.shape = std::move(shape.shape),
                  .more = std::move(shape.more),
                  .time_us = *time,
                  .timing = *timing,
                  .table = TableNumber(),
                  .gpu = Intern(rows_.gpus, cells[common_.gpu]),
                  .op = Intern(rows_.ops, shape.op),
                  .line = table_.line(i),
                  .place = static_cast<uint32_t>(i)};
    if (common_.count) {
      row.count = std::max(1.0, CellNumber(cells[*common_.count]).value_or(1));
    }
    rows_.rows.push_back(std::move(row));
    return {};
  }

  const CsvTable& table_;
  const RowKind& kind_;
  const Common& common_;
  const ingest::Rules& rules_;
  KernelRows& rows_;
  std::vector<size_t> places_;
  std::vector<std::string_view> cells_;
  std::unordered_set<std::string_view> seen_;
};

Status AddTable(const CsvTable& table, const ingest::Rules& rules,
                KernelRows& rows) {
  ASSIGN_OR_RETURN(const RowKind* kind, FindRowKind(table));
  ASSIGN_OR_RETURN(const Common common, FindCommon(table));
  TableReader(table, *kind, common, rules, rows).ReadAll();
  return {};
}

}  // namespace

std::string_view Name(Timing timing) {
  return kTimings.at(static_cast<size_t>(timing));
}

std::optional<Timing> TimingFromName(std::string_view name) {
  const auto found = std::ranges::find(kTimings, name);
  if (found == kTimings.end()) {
    return std::nullopt;
  }
  return static_cast<Timing>(found - kTimings.begin());
}

Result<KernelRows> ReadKernelRows(
    std::span<const std::filesystem::path> paths) {
  ASSIGN_OR_RETURN(const ingest::Rules rules, ingest::Rules::Load());
  KernelRows rows;
  for (const std::filesystem::path& path : paths) {
    ASSIGN_OR_RETURN(const auto files, ListCsvFiles(path));
    for (const std::filesystem::path& file : files) {
      ASSIGN_OR_RETURN(std::string text, ReadFile(file));
      ASSIGN_OR_RETURN(const CsvTable table,
                       CsvTable::Parse(std::move(text), file.string()));
      // Collectives are read by collective_rows.h. In a folder of all sorts,
      // what else is not ours is passed by.
      if (table.FindColumn("collective") ||
          (files.size() > 1 && IsForeign(table))) {
        continue;
      }
      RETURN_IF_ERROR(AddTable(table, rules, rows));
    }
  }
  return rows;
}

Status AddKernelRows(std::string text, std::string source, KernelRows& rows) {
  ASSIGN_OR_RETURN(const ingest::Rules rules, ingest::Rules::Load());
  return AddKernelRows(std::move(text), std::move(source), rules, rows);
}

Status AddKernelRows(std::string text, std::string source,
                     const ingest::Rules& rules, KernelRows& rows) {
  ASSIGN_OR_RETURN(const CsvTable table,
                   CsvTable::Parse(std::move(text), std::move(source)));
  return AddTable(table, rules, rows);
}

Part PartOf(const ir::KernelShape& shape) {
  switch (ir::HashOf(shape) % 10) {
    case 0:
      return Part::kTest;
    case 1:
      return Part::kValidation;
    default:
      return Part::kFit;
  }
}

}  // namespace stepcast::measurements
