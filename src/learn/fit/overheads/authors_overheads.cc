#include "learn/fit/overheads/authors_overheads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "cost/overheads/op_names.h"

namespace stepcast::learn {
namespace {

using cost::OverheadPart;
using cost::OverheadRow;

// Of a normal distribution, in standard deviations.
constexpr double kDecile = 1.2816;
// The complete sets cover ten iterations; how often an op comes in each is not
// stated.
constexpr int64_t kIterations = 10;
// T4 by construction (section 7.2 of their method): 10 us measured, less 2 of
// the profiler and 4 that they give to the kernel.
constexpr double kFigureT4Us = 4;

enum class Kind : uint8_t { kComplete, kManyWorkloads, kFigures, kFigureT1 };

constexpr std::array<std::string_view, 5> kComplete = {
    "overhead_type", "op_or_runtime_call", "mean_us", "std_us",
    "num_launches_in_first_occurrence"};
constexpr std::array<std::string_view, 6> kManyWorkloads = {
    "overhead_type", "op_or_runtime_call", "mean_us", "std_us", "model",
    "count"};
constexpr std::array<std::string_view, 4> kFigures = {"overhead_type", "op",
                                                      "mean_us", "model"};
constexpr std::array<std::string_view, 3> kFigureT1 = {"model", "t1_mean_us",
                                                       "t1_std_us"};

// One line of a table.
struct Line {
  std::string type;  // "t1" to "t5"
  std::string name;
  double mean_us = 0;
  double std_us = 0;
  int64_t count = 1;
  std::optional<int64_t> launches{};  // Of the op, where stated.
};

struct OverheadTable {
  Kind kind = Kind::kComplete;
  std::vector<Line> lines;
};

Result<Kind> KindOf(const CsvTable& table) {
  const auto has = [&](std::span<const std::string_view> columns) {
    return std::ranges::all_of(columns, [&](std::string_view column) {
      return table.FindColumn(column).has_value();
    });
  };
  if (has(kComplete)) {
    return Kind::kComplete;
  }
  if (has(kManyWorkloads)) {
    return Kind::kManyWorkloads;
  }
  if (has(kFigures)) {
    return Kind::kFigures;
  }
  if (has(kFigureT1)) {
    return Kind::kFigureT1;
  }
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}:1: no table of overheads; expected the columns "
                          "{}",
                          table.source(), Join(kComplete, ", ")));
}

class LineReader {
 public:
  LineReader(const CsvTable& table, Kind kind) : table_(table), kind_(kind) {}

  Result<std::optional<Line>> Read(size_t row) const {
    Line line;
    line.type = kind_ == Kind::kFigureT1 ? "t1" : Text(row, "overhead_type");
    line.name =
        Text(row, kind_ == Kind::kFigures ? "op" : "op_or_runtime_call");
    const bool t1 = kind_ == Kind::kFigureT1;
    const auto mean = Number(row, t1 ? "t1_mean_us" : "mean_us");
    const auto deviation = Number(row, t1 ? "t1_std_us" : "std_us");
    if (!mean || *mean < 0) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}:{}: the mean is not a time; expected "
                              "microseconds",
                              table_.source(), table_.line(row)));
    }
    line.mean_us = *mean;
    line.std_us = std::max(0.0, deviation.value_or(0));
    if (kind_ == Kind::kComplete) {
      line.count = kIterations;
      const auto launches = Number(row, "num_launches_in_first_occurrence");
      line.launches = launches ? std::optional(static_cast<int64_t>(*launches))
                               : std::nullopt;
      return line;
    }
    if (kind_ == Kind::kManyWorkloads) {
      if (!Text(row, "model").starts_with("DLRM")) {
        return std::nullopt;
      }
      line.count = static_cast<int64_t>(Number(row, "count").value_or(1));
    }
    return line;
  }

 private:
  std::string Text(size_t row, std::string_view column) const {
    const auto at = table_.FindColumn(column);
    return at ? std::string(table_.row(row)[*at]) : std::string();
  }
  std::optional<double> Number(size_t row, std::string_view column) const {
    const auto at = table_.FindColumn(column);
    return at ? CellNumber(table_.row(row)[*at]) : std::nullopt;
  }

  const CsvTable& table_;
  const Kind kind_;
};

Result<OverheadTable> ReadTable(const CsvTable& csv) {
  OverheadTable table;
  ASSIGN_OR_RETURN(table.kind, KindOf(csv));
  const LineReader reader(csv, table.kind);
  for (size_t row = 0; row < csv.row_count(); ++row) {
    ASSIGN_OR_RETURN(std::optional<Line> line, reader.Read(row));
    if (line) {
      table.lines.push_back(*std::move(line));
    }
  }
  return table;
}

OverheadRow RowOf(const Line& line, double mean_us) {
  return {.count = line.count,
          .mean_us = mean_us,
          .std_us = line.std_us,
          .p10_us = std::max(0.0, mean_us - kDecile * line.std_us),
          .p50_us = mean_us,
          .p90_us = mean_us + kDecile * line.std_us};
}

class Collector {
 public:
  Collector(std::span<const OverheadTable> tables,
            const AuthorsOptions& options)
      : tables_(tables), options_(options) {
    for (const OverheadTable& table : tables) {
      for (const Line& line : table.lines) {
        if (line.type == "t2") {
          launching_.insert(std::string(cost::PlainOpName(line.name)));
        }
      }
    }
  }

  cost::OverheadData Collect() {
    cost::OverheadData data;
    data.name = options_.name;
    // The later overwrite what the earlier have.
    for (const Kind kind : {Kind::kManyWorkloads, Kind::kComplete,
                            Kind::kFigureT1, Kind::kFigures}) {
      AddKind(kind, data);
    }
    return data;
  }

 private:
  using Groups =
      std::map<std::pair<OverheadPart, std::string>, std::vector<OverheadRow>>;

  void AddKind(Kind kind, cost::OverheadData& data) const {
    Groups groups;
    for (const OverheadTable& table : tables_) {
      if (table.kind != kind) {
        continue;
      }
      for (const Line& line : table.lines) {
        AddLine(kind, line, groups);
      }
      if (kind == Kind::kFigures) {
        const OverheadRow row = RowOf(Line{}, kFigureT4Us);
        groups[{OverheadPart::kCall, "launch cudaLaunchKernel"}] = {row};
        groups[{OverheadPart::kCall, "launch cudaMemcpyAsync"}] = {row};
      }
    }
    for (const auto& [key, rows] : groups) {
      data[key.first][key.second] = cost::Pool(rows);
    }
  }

  void AddLine(Kind kind, const Line& line, Groups& groups) const {
    double mean = line.mean_us;
    if (kind == Kind::kComplete) {
      mean = UnroundedMean(mean);
    }
    const OverheadRow row = RowOf(line, mean);
    if (line.type == "t1") {
      groups[{OverheadPart::kBetweenOps, std::string(cost::kPooledName)}]
          .push_back(row);
    } else if (line.type == "t2") {
      groups[{OverheadPart::kBeforeLaunch, line.name}].push_back(row);
    } else if (line.type == "t3") {
      groups[{OverheadPart::kAfterLaunch, line.name}].push_back(row);
    } else if (line.type == "t4") {
      // What a synchronising call takes is waiting, not overhead.
      if (line.name.find("Synchronize") == std::string::npos) {
        groups[{OverheadPart::kCall, "launch " + line.name}].push_back(row);
      }
    } else if (line.type == "t5") {
      const std::string plain(cost::PlainOpName(line.name));
      const bool launches =
          line.launches ? *line.launches > 0 : launching_.contains(plain);
      // Their T5 of an op with one launch is zero: there is nothing between.
      if (!launches || !line.launches || *line.launches > 1) {
        groups[{launches ? OverheadPart::kBetweenLaunches
                         : OverheadPart::kNoLaunch,
                line.name}]
            .push_back(row);
      }
    }
  }

  const std::span<const OverheadTable> tables_;
  const AuthorsOptions& options_;
  std::set<std::string> launching_;  // Plain names of ops with a T2.
};

}  // namespace

double UnroundedMean(double printed) {
  // Half of the last digit, and a little for the text's own rounding.
  constexpr double kTolerance = 0.5000001e-4;
  // The complete sets have at most 13 of an op in ten iterations, with 11
  // launches each: 1430 values.
  constexpr int64_t kMostValues = 2000;
  constexpr double kDigits = 1e4;
  const double scaled = printed * kDigits;
  if (std::abs(scaled - std::round(scaled)) > 1e-6) {
    return printed;  // With all its digits.
  }
  for (int64_t n = 1; n <= kMostValues; ++n) {
    const auto values = static_cast<double>(n);
    const double mean = std::round(printed * values) / values;
    if (std::abs(mean - printed) <= kTolerance) {
      return mean;
    }
  }
  return printed;
}

Result<cost::OverheadData> ReadAuthorsOverheads(
    std::span<const CsvTable> tables, const AuthorsOptions& options) {
  std::vector<OverheadTable> read;
  for (const CsvTable& csv : tables) {
    ASSIGN_OR_RETURN(OverheadTable table, ReadTable(csv));
    read.push_back(std::move(table));
  }
  return Collector(read, options).Collect();
}

}  // namespace stepcast::learn
