#include "learn/measured/step_rows.h"

#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "learn/measured/csv.h"

namespace stepcast::learn {
namespace {

constexpr std::array<std::string_view, 11> kStepColumns = {
    "id",
    "implementation",
    "mode",
    "model",
    "num_gpus",
    "gpu",
    "batch_per_gpu",
    "precision",
    "cuda_graphs",
    "embedding_placement",
    "step_time_ms"};

// More GPUs than any job has, more samples than any step.
constexpr int64_t kMostGpus = 1 << 20;
constexpr int64_t kMostSamples = int64_t{1} << 40;
// Eleven days: another unit.
constexpr double kLongestMs = 1e9;

tl::unexpected<Error> FailIn(const StepRow& row, std::string_view what) {
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}:{}: {}", row.file, row.line, what));
}

struct Range {
  int64_t least = 0;
  int64_t most = 0;
};

Result<int64_t> WholeNumber(const StepRow& row, std::string_view column,
                            Range range) {
  const std::string_view cell = row.Word(column);
  const auto number = CellInt(cell);
  if (!number || *number < range.least || *number > range.most) {
    return FailIn(row, fmt::format("{} is '{}'; expected a whole number of at "
                                   "least {}",
                                   column, cell, range.least));
  }
  return *number;
}

Status ReadNumbers(StepRow& row) {
  if (row.id.empty()) {
    return FailIn(row, "id is empty; expected a name of the row");
  }
  ASSIGN_OR_RETURN(row.num_gpus, WholeNumber(row, "num_gpus", {0, kMostGpus}));
  if (!row.Word("num_nodes").empty()) {
    ASSIGN_OR_RETURN(row.num_nodes,
                     WholeNumber(row, "num_nodes", {1, kMostGpus}));
  }
  ASSIGN_OR_RETURN(row.batch_per_gpu,
                   WholeNumber(row, "batch_per_gpu", {1, kMostSamples}));
  const std::string_view mode = row.Word("mode");
  if (mode != "train" && mode != "infer") {
    return FailIn(row,
                  fmt::format("mode is '{}'; expected train or infer", mode));
  }
  const std::string_view cell = row.Word("step_time_ms");
  const auto time = CellNumber(cell);
  if (!time || !(*time > 0) || *time > kLongestMs) {
    return FailIn(row, fmt::format("step_time_ms is '{}'; expected a number "
                                   "above 0",
                                   cell));
  }
  row.step_time_ms = *time;
  return {};
}

}  // namespace

std::string_view StepRow::Word(std::string_view column) const {
  const auto found = words.find(column);
  return found == words.end() ? std::string_view()
                              : std::string_view(found->second);
}

std::span<const std::string_view> StepColumns() {
  return kStepColumns;
}

Status AddStepRows(std::string text, std::string source,
                   std::vector<StepRow>& rows) {
  ASSIGN_OR_RETURN(const CsvTable table,
                   CsvTable::Parse(std::move(text), std::move(source)));
  RETURN_IF_ERROR(table.FindColumns(kStepColumns));
  std::set<std::string> seen;
  for (const StepRow& row : rows) {
    seen.insert(row.id);
  }
  for (size_t i = 0; i < table.row_count(); ++i) {
    StepRow row;
    row.file = table.source();
    row.line = table.line(i);
    for (size_t c = 0; c < table.header().size(); ++c) {
      row.words.emplace(table.header()[c], table.row(i)[c]);
    }
    row.id = row.Word("id");
    RETURN_IF_ERROR(ReadNumbers(row));
    if (!seen.insert(row.id).second) {
      return FailIn(row, fmt::format("id '{}' is there twice; expected one "
                                     "row per id",
                                     row.id));
    }
    rows.push_back(std::move(row));
  }
  return {};
}

Result<std::vector<StepRow>> ReadStepRows(
    std::span<const std::filesystem::path> paths) {
  std::vector<StepRow> rows;
  for (const std::filesystem::path& path : paths) {
    ASSIGN_OR_RETURN(const auto files, ListCsvFiles(path));
    for (const std::filesystem::path& file : files) {
      ASSIGN_OR_RETURN(std::string text, ReadFile(file));
      RETURN_IF_ERROR(AddStepRows(std::move(text), file.string(), rows));
    }
  }
  return rows;
}

}  // namespace stepcast::learn
