// The report of how well published steps are predicted.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/text_table.h"
#include "view/reports/accuracy_doc.h"

namespace stepcast::view {
namespace {

// Rows that text shows of those with the largest errors.
constexpr size_t kWorstRows = 10;
// Microseconds have their third decimal in nanoseconds.
constexpr int kNanosecondDecimals = 6;
constexpr int kShownDecimals = 3;

std::vector<Column> GroupColumns(const std::string& prefix) {
  return {{.key = prefix + "n", .label = "n"},
          {.key = prefix + "gmae_pct", .label = "GMAE"},
          {.key = prefix + "mape_pct", .label = "MAPE"},
          {.key = prefix + "bias_pct", .label = "bias", .sign = true},
          {.key = prefix + "max_abs_pct", .label = "worst"},
          {.key = prefix + "in_p10_p90", .label = "in p10-p90", .decimals = 0}};
}

std::vector<Value> GroupCells(const learn::StepGroup& group) {
  return {static_cast<int64_t>(group.errors.n),
          Percent{group.errors.gmae_pct},
          Percent{group.errors.mape_pct},
          Percent{group.errors.bias_pct},
          Percent{group.worst_pct},
          Share{group.in_interval}};
}

Table GroupTable(const learn::StepAccuracy& accuracy) {
  Table table{.key = "groups", .title = "groups"};
  for (const std::string& column : accuracy.columns) {
    table.columns.push_back(
        {.key = column, .label = column, .width = kNameWidth / 2});
  }
  const std::vector<Column> errors = GroupColumns("");
  table.columns.insert(table.columns.end(), errors.begin(), errors.end());
  for (const learn::StepGroup& group : accuracy.groups) {
    std::vector<Value> row(group.words.begin(), group.words.end());
    row.resize(accuracy.columns.size());
    const std::vector<Value> cells = GroupCells(group);
    row.insert(row.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

// For programs: every row, in the order of the input.
Table PredictedRows(const learn::StepAccuracy& accuracy) {
  Table table{
      .key = "rows",
      .columns = {{.key = "id"},
                  {.key = "measured_ms"},
                  {.key = "predicted_ms", .decimals = kNanosecondDecimals},
                  {.key = "error_pct"},
                  {.key = "in_p10_p90"},
                  {.key = "p10_ms", .decimals = kNanosecondDecimals},
                  {.key = "p90_ms", .decimals = kNanosecondDecimals},
                  {.key = "gpu_active_ms", .decimals = kNanosecondDecimals},
                  {.key = "workload"},
                  {.key = "impl"},
                  {.key = "gpu"},
                  {.key = "batch_per_gpu"}},
      .readers = Readers::kPrograms};
  for (const learn::PredictedStep& step : accuracy.rows) {
    table.rows.push_back({step.row->id, step.row->step_time_ms,
                          step.predicted_ms, Percent{step.error_pct()},
                          step.in_interval(), step.p10_ms, step.p90_ms,
                          step.gpu_active_ms, step.workload, step.impl,
                          step.gpu, step.row->batch_per_gpu});
  }
  return table;
}

// For people: those that are farthest off.
Table WorstTable(const learn::StepAccuracy& accuracy) {
  std::vector<const learn::PredictedStep*> worst;
  worst.reserve(accuracy.rows.size());
  for (const learn::PredictedStep& step : accuracy.rows) {
    worst.push_back(&step);
  }
  std::ranges::stable_sort(
      worst, std::ranges::greater{}, [](const learn::PredictedStep* step) {
        return std::abs(std::log(step->predicted_ms / step->row->step_time_ms));
      });
  Table table{
      .title = "farthest off",
      .columns =
          {{.label = "id"},
           {.label = "measured", .unit = "ms", .decimals = kShownDecimals},
           {.label = "predicted", .unit = "ms", .decimals = kShownDecimals},
           {.label = "error", .sign = true}},
      .limit = kWorstRows};
  for (const learn::PredictedStep* step : worst) {
    table.rows.push_back({step->row->id, step->row->step_time_ms,
                          step->predicted_ms, Percent{step->error_pct()}});
  }
  return table;
}

void AddSkipped(const learn::StepAccuracy& accuracy, Doc& doc) {
  Table rows{.key = "skipped",
             .columns = {{.key = "id"}, {.key = "why"}},
             .readers = Readers::kPrograms};
  std::map<std::string, int64_t> reasons;
  for (const learn::SkippedStep& skipped : accuracy.skipped) {
    rows.rows.push_back({skipped.row->id, skipped.why});
    ++reasons[skipped.why];
  }
  doc.blocks.emplace_back(std::move(rows));
  Table table{.title = "skipped rows",
              .columns = {{.label = "rows"}, {.label = "why"}}};
  for (const auto& [why, count] : reasons) {
    table.rows.push_back({count, why});
  }
  doc.blocks.emplace_back(std::move(table));
}

// A line for each predicted row, with the words of the input.
Table CsvRows(const learn::StepAccuracy& accuracy) {
  Table table;
  constexpr std::string_view kWords[] = {
      "id",  "implementation", "mode",     "model",
      "gpu", "batch_per_gpu",  "precision"};
  for (const std::string_view word : kWords) {
    table.columns.push_back({.key = std::string(word)});
  }
  for (const char* key : {"measured_ms", "predicted_ms", "error_pct", "p10_ms",
                          "p90_ms", "gpu_active_ms"}) {
    table.columns.push_back({.key = key, .decimals = kNanosecondDecimals});
  }
  for (const learn::PredictedStep& step : accuracy.rows) {
    std::vector<Value> row;
    for (const std::string_view word : kWords) {
      row.emplace_back(std::string(step.row->Word(word)));
    }
    row.insert(row.end(), {step.row->step_time_ms, step.predicted_ms,
                           Percent{step.error_pct()}, step.p10_ms, step.p90_ms,
                           step.gpu_active_ms});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Doc StepAccuracyDoc(const learn::StepAccuracy& accuracy) {
  Doc doc;
  doc.title = "predicted against published step times";
  doc.verdict = fmt::format("{} rows predicted, {} skipped",
                            WithThousands(std::ssize(accuracy.rows)),
                            WithThousands(std::ssize(accuracy.skipped)));
  if (accuracy.all.errors.n > 0) {
    doc.verdict +=
        fmt::format("; GMAE {:.1f} %, MAPE {:.1f} %, bias {:+.1f} %",
                    accuracy.all.errors.gmae_pct, accuracy.all.errors.mape_pct,
                    accuracy.all.errors.bias_pct);
  }
  doc.blocks.emplace_back(PredictedRows(accuracy));
  doc.blocks.emplace_back(GroupTable(accuracy));
  Facts summary = {{{.key = "summary.skipped"}, std::ssize(accuracy.skipped)}};
  const std::vector<Column> columns = GroupColumns("summary.");
  const std::vector<Value> cells = GroupCells(accuracy.all);
  for (size_t i = 0; i < columns.size(); ++i) {
    summary.push_back({columns[i], cells[i]});
  }
  doc.blocks.emplace_back(std::move(summary));
  doc.blocks.emplace_back(WorstTable(accuracy));
  AddSkipped(accuracy, doc);
  doc.csv = CsvRows(accuracy);
  return doc;
}

}  // namespace stepcast::view
