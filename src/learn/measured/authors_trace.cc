#include "learn/measured/authors_trace.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace stepcast::learn {
namespace {

constexpr std::array<std::string_view, 7> kTraceColumns = {
    "iteration",    "path",          "op", "op_instance", "kernel",
    "kernel_count", "kernel_time_us"};

}  // namespace

Result<std::vector<AuthorsRow>> ReadAuthorsTrace(const CsvTable& table) {
  ASSIGN_OR_RETURN(const auto at, table.FindColumns(kTraceColumns));
  std::vector<AuthorsRow> rows;
  rows.reserve(table.row_count());
  for (size_t i = 0; i < table.row_count(); ++i) {
    const auto cells = table.row(i);
    const auto iteration = CellInt(cells[at[0]]);
    const auto instance = CellInt(cells[at[3]]);
    const auto count = CellInt(cells[at[5]]);
    const auto time = CellNumber(cells[at[6]]);
    if (!iteration || !instance || !count || *count < 1 || !time || *time < 0) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}:{}: iteration and op_instance must be "
                              "numbers, kernel_count 1 or more, "
                              "kernel_time_us 0 or more",
                              table.source(), table.line(i)));
    }
    rows.push_back({.iteration = *iteration,
                    .path = std::string(cells[at[1]]),
                    .op = std::string(cells[at[2]]),
                    .op_instance = *instance,
                    .kernel = std::string(cells[at[4]]),
                    .kernel_count = *count,
                    .time_us = *time});
  }
  return rows;
}

AuthorsModel AuthorsDefault() {
  return {.batch = 2048,
          .bottom = {512, 512, 64},
          .top = {100, 1024, 1024, 1024, 1},
          .table_rows = std::vector<int64_t>(8, 1'000'000),
          .dim = 64,
          .lookups = 100,
          .index_alpha = 0};
}

AuthorsModel AuthorsMlPerf() {
  // Distinct ids of Criteo's 26 features, capped at 40 million.
  return {.batch = 2048,
          .bottom = {13, 512, 256, 128},
          .top = {479, 1024, 1024, 512, 256, 1},
          .table_rows = {14885288, 29419,    15123,   7291,     19899,  3,
                         6463,     1310,     61,      10155909, 618195, 218994,
                         10,       2208,     9779,    71,       4,      963,
                         14,       16967044, 4154705, 13180313, 289595, 10828,
                         95,       34},
          .dim = 128,
          .lookups = 1};
}

}  // namespace stepcast::learn
