// The reports of how well kernels and collectives are predicted.
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/text_table.h"
#include "base/units.h"
#include "view/reports/accuracy_doc.h"
#include "view/reports/text_parts.h"

namespace stepcast::view {
namespace {

// Rows left out are named one by one up to this many.
constexpr size_t kLeftOutRows = 20;

int64_t CountOf(size_t count) {
  return static_cast<int64_t>(count);
}

// An error, or nothing if there is no row to have one.
Value ErrorCell(const ErrorSummary& summary, double ErrorSummary::*error) {
  return summary.n == 0 ? Value() : Value(Percent{summary.*error});
}

std::vector<Column> ErrorColumns() {
  return {{.key = "n", .label = "n"},
          {.key = "gmae_pct", .label = "GMAE"},
          {.key = "mape_pct", .label = "MAPE"},
          {.key = "p90_pct", .label = "p90"},
          {.key = "p99_pct", .label = "p99"},
          {.key = "bias_pct", .label = "bias", .sign = true},
          {.key = "in_p10_p90", .label = "in p10-p90", .decimals = 0},
          {.key = "formula_gmae_pct", .label = "formula"},
          {.key = "roofline_gmae_pct", .label = "roofline"}};
}

void AddErrors(const learn::AccuracyLine& line, std::vector<Value>& row) {
  row.insert(row.end(),
             {CountOf(line.ours.n), Percent{line.ours.gmae_pct},
              Percent{line.ours.mape_pct}, Percent{line.ours.p90_pct},
              Percent{line.ours.p99_pct}, Percent{line.ours.bias_pct},
              Share{line.in_interval}, Percent{line.formula.gmae_pct},
              Percent{line.roofline.gmae_pct}});
}

Table ErrorTable(std::string key, std::vector<Column> first, Readers readers) {
  Table table{
      .key = std::move(key), .columns = std::move(first), .readers = readers};
  const std::vector<Column> errors = ErrorColumns();
  table.columns.insert(table.columns.end(), errors.begin(), errors.end());
  return table;
}

// For programs: a group with its parts in it.
Table GroupRows(const learn::KernelAccuracy& accuracy) {
  Table table = ErrorTable("groups",
                           {{.key = "op"},
                            {.key = "gpu"},
                            {.key = "dtype"},
                            {.key = "timing"},
                            {.key = "skipped"},
                            {.key = "below_floor"},
                            {.key = "flagged"},
                            {.key = "unpriced"}},
                           Readers::kPrograms);
  for (const char* key :
       {"repeated_shapes", "repeat_gmae_pct", "repeat_over_10_pct", "parts"}) {
    table.columns.push_back({.key = key});
  }
  for (const learn::AccuracyGroup& group : accuracy.groups) {
    std::vector<Value> row = {
        group.op,
        group.gpu,
        group.dtype,
        group.timing,
        CountOf(group.below_floor + group.flagged + group.unpriced),
        CountOf(group.below_floor),
        CountOf(group.flagged),
        CountOf(group.unpriced)};
    AddErrors(group.all, row);
    const bool repeated = group.noise.shapes > 0;
    row.emplace_back(CountOf(group.noise.shapes));
    row.push_back(repeated ? Value(Percent{group.noise.gmae_pct}) : Value());
    row.push_back(repeated ? Value(Percent{group.noise.over_10_pct}) : Value());
    Table parts = ErrorTable("", {{.key = "name"}}, Readers::kPrograms);
    for (const learn::AccuracyLine& part : group.parts) {
      parts.rows.push_back({part.name});
      AddErrors(part, parts.rows.back());
    }
    row.emplace_back(std::make_shared<const Table>(std::move(parts)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// For people: groups, their parts, then each op over all groups.
Table GroupLines(const learn::KernelAccuracy& accuracy) {
  Table table = ErrorTable("",
                           {{.label = "op"},
                            {.label = "gpu"},
                            {.label = "dtype"},
                            {.label = "timing"}},
                           Readers::kAll);
  table.title = "kernels";
  table.about =
      "formula, roofline: GMAE of our formula alone and of the plain roofline "
      "on the same rows; noise: of repeats of one shape about their mean.";
  table.columns.push_back({.label = "noise"});
  const auto add = [&](std::vector<Value> row, const learn::AccuracyLine& line,
                       const learn::RepeatNoise& noise) {
    AddErrors(line, row);
    row.push_back(noise.shapes > 0 ? Value(Percent{noise.gmae_pct}) : Value());
    table.rows.push_back(std::move(row));
  };
  for (const learn::AccuracyGroup& group : accuracy.groups) {
    add({group.op, group.gpu, group.dtype, group.timing}, group.all,
        group.noise);
    for (const learn::AccuracyLine& part : group.parts) {
      add({fmt::format("{}: {}", group.op, part.name), Value(), Value(),
           Value()},
          part, {});
    }
  }
  if (accuracy.groups.size() > accuracy.families.size()) {
    for (const learn::AccuracyLine& family : accuracy.families) {
      add({family.name, "all", Value(), Value()}, family, {});
    }
  }
  return table;
}

Table LeftOutTable(std::string key, std::string title) {
  return {.key = std::move(key),
          .title = std::move(title),
          .columns = {{.key = "file", .label = "file"},
                      {.key = "line", .label = "line"},
                      {.key = "why", .label = "why"}},
          .limit = kLeftOutRows};
}

void AddKernels(const learn::KernelAccuracy& accuracy,
                const learn::KernelRows& rows, Doc& doc) {
  doc.blocks.emplace_back(GroupRows(accuracy));
  doc.csv = std::get<Table>(doc.blocks.back());
  doc.csv.columns.pop_back();  // Parts do not fit into a cell.
  doc.blocks.emplace_back(GroupLines(accuracy));
  Table ops = ErrorTable("ops", {{.key = "op"}}, Readers::kPrograms);
  for (const learn::AccuracyLine& family : accuracy.families) {
    ops.rows.push_back({family.name});
    AddErrors(family, ops.rows.back());
  }
  doc.blocks.emplace_back(std::move(ops));
  size_t below = 0;
  size_t unpriced = 0;
  for (const learn::AccuracyGroup& group : accuracy.groups) {
    below += group.below_floor;
    unpriced += group.unpriced;
  }
  if (!rows.rows.empty()) {
    doc.blocks.emplace_back(Text{
        .text = fmt::format(
            "not judged: {} rows under 1.5 launch floors, {} without a model, "
            "{} flagged, {} skipped",
            WithThousands(CountOf(below)), WithThousands(CountOf(unpriced)),
            WithThousands(std::ssize(accuracy.flagged)),
            WithThousands(std::ssize(rows.skipped)))});
  }
}

void AddLeftOut(const learn::KernelAccuracy& accuracy,
                const learn::KernelRows& rows, Doc& doc) {
  Table flagged = LeftOutTable("flagged", "flagged rows");
  for (const learn::FlaggedRow& row : accuracy.flagged) {
    flagged.rows.push_back({row.file, static_cast<int64_t>(row.line), row.why});
  }
  doc.blocks.emplace_back(std::move(flagged));
  Table skipped = LeftOutTable("skipped", "skipped rows");
  for (const learn::SkippedRow& row : rows.skipped) {
    skipped.rows.push_back(
        {rows.tables[row.table], static_cast<int64_t>(row.line), row.why});
  }
  doc.blocks.emplace_back(std::move(skipped));
}

// The errors of collectives under `key`.
void AddColumns(const std::string& key, bool shown,
                std::vector<Column>& columns) {
  for (const auto& [name, label] :
       {std::pair("n", "rows"), std::pair("gmae_pct", "GMAE"),
        std::pair("mape_pct", "MAPE"), std::pair("p90_pct", "p90"),
        std::pair("bias_pct", "bias")}) {
    columns.push_back({.key = fmt::format("{}.{}", key, name),
                       .label = shown ? label : "",
                       .sign = std::string_view(name) == "bias_pct"});
  }
}

void AddSummary(const ErrorSummary& errors, std::vector<Value>& row) {
  row.insert(row.end(), {CountOf(errors.n), Percent{errors.gmae_pct},
                         Percent{errors.mape_pct}, Percent{errors.p90_pct},
                         Percent{errors.bias_pct}});
}

std::vector<Value> SystemCells(const auto& line) {
  return {line.system, line.kind,
          std::string(line.over_network ? "network" : "node")};
}

std::vector<Column> SystemColumns() {
  return {{.key = "system", .label = "system"},
          {.key = "collective", .label = "collective"},
          {.key = "within", .label = "within"}};
}

Table LinesTable(const std::vector<learn::CollectiveLine>& lines) {
  Table table{.columns = SystemColumns()};
  AddColumns("ours", true, table.columns);
  table.columns.push_back(
      {.key = "in_p10_p90", .label = "in p10-p90", .decimals = 0});
  AddColumns("formula", false, table.columns);
  table.columns.push_back({.label = "formula"});
  for (const learn::CollectiveLine& line : lines) {
    std::vector<Value> row = SystemCells(line);
    AddSummary(line.ours, row);
    row.emplace_back(Share{line.in_interval});
    AddSummary(line.formula, row);
    row.emplace_back(Percent{line.formula.gmae_pct});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table LinesTable(const std::vector<learn::CollectiveLeaveOutLine>& lines) {
  Table table{.columns = SystemColumns()};
  AddColumns("errors", true, table.columns);
  table.columns.push_back({.key = "odd", .label = "in no fit, because"});
  for (const learn::CollectiveLeaveOutLine& line : lines) {
    std::vector<Value> row = SystemCells(line);
    AddSummary(line.errors, row);
    row.push_back(line.odd.empty() ? Value() : Value(std::string(line.odd)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The systems, then all of them together.
template <typename Accuracy>
void AddCollectives(const Accuracy& accuracy, std::string about, Doc& doc) {
  Table lines = LinesTable(accuracy.lines);
  lines.key = "collectives";
  lines.title = "collectives";
  lines.about = std::move(about);
  Table totals = LinesTable(accuracy.totals);
  totals.key = "collective_totals";
  totals.title = "collectives of all systems";
  if (doc.csv.columns.empty()) {
    doc.csv = lines;
  }
  doc.blocks.emplace_back(std::move(lines));
  doc.blocks.emplace_back(std::move(totals));
}

constexpr std::string_view kOwnCurves =
    "Each system by its own curves; formula: links and shared constants alone.";

struct LeaveOutModel {
  std::string_view key;
  std::string_view label;
  ErrorSummary learn::LeaveOutLine::*errors = nullptr;
};
constexpr std::array kLeaveOutModels = {
    LeaveOutModel{"roofline", "roofline", &learn::LeaveOutLine::roofline},
    LeaveOutModel{"trees", "trees", &learn::LeaveOutLine::trees},
    LeaveOutModel{"nothing_measured", "nothing", &learn::LeaveOutLine::nothing},
    LeaveOutModel{"ceilings", "ceilings", &learn::LeaveOutLine::ceilings},
    LeaveOutModel{"few_rows", "few rows", &learn::LeaveOutLine::few_rows}};

}  // namespace

Doc KernelAccuracyDoc(const learn::KernelAccuracy& accuracy,
                      const learn::KernelRows& rows,
                      const learn::CollectiveAccuracy& collectives) {
  Doc doc;
  doc.title = "predicted against measured kernel times";
  size_t judged = 0;
  for (const learn::AccuracyLine& family : accuracy.families) {
    judged += family.ours.n;
  }
  for (const learn::CollectiveLine& line : collectives.lines) {
    judged += line.ours.n;
  }
  doc.verdict = fmt::format("{} rows judged", WithThousands(CountOf(judged)));
  if (accuracy.families.size() == 1) {
    const learn::AccuracyLine& all = accuracy.families.front();
    doc.verdict += fmt::format(", GMAE {:.1f} %, bias {:+.1f} %",
                               all.ours.gmae_pct, all.ours.bias_pct);
  }
  AddKernels(accuracy, rows, doc);
  if (!collectives.lines.empty()) {
    AddCollectives(collectives, std::string(kOwnCurves), doc);
  }
  AddLeftOut(accuracy, rows, doc);
  return doc;
}

Doc CollectiveAccuracyDoc(const learn::CollectiveAccuracy& accuracy) {
  Doc doc;
  doc.title = "predicted against measured collectives";
  AddCollectives(accuracy, std::string(kOwnCurves), doc);
  return doc;
}

Doc CollectiveLeaveOutDoc(const learn::CollectiveLeaveOut& table) {
  Doc doc;
  doc.title =
      "collectives by the formula, its constants fitted without any system of "
      "the GPU";
  AddCollectives(table, "", doc);
  return doc;
}

Doc LeaveOutDoc(const learn::LeaveOutTable& table) {
  Table lines{
      .key = "lines",
      .title = "GPUs left out",
      .about = fmt::format(
          "MAPE and GMAE on test rows of GPUs whose chip is left out of every "
          "fit. Ours: the formula with nothing measured on the GPU, with its "
          "measured ceilings, and corrected by {} of its rows. Roofline: "
          "datasheet peaks. Trees: the formula with ceilings, corrected by "
          "trees that learned from the other chips. In p10-p90: the interval "
          "that the errors on the other chips give.",
          learn::kFewRows),
      .columns = {{.key = "op", .label = "op"},
                  {.key = "type", .label = "type"},
                  {.key = "gpu", .label = "gpu left out"},
                  {.key = "n", .label = "n"}}};
  for (const LeaveOutModel& model : kLeaveOutModels) {
    for (const auto& [key, label] :
         {std::pair("gmae_pct", "GMAE"), std::pair("mape_pct", "MAPE"),
          std::pair("p90_pct", ""), std::pair("p99_pct", ""),
          std::pair("bias_pct", "")}) {
      lines.columns.push_back(
          {.key = fmt::format("{}.{}", model.key, key),
           .label =
               *label == '\0' ? "" : fmt::format("{} {}", model.label, label)});
    }
  }
  lines.columns.push_back({.key = "nothing_measured_in_p10_p90",
                           .label = "nothing in p10-p90",
                           .decimals = 0});
  lines.columns.push_back({.key = "ceilings_in_p10_p90",
                           .label = "ceilings in p10-p90",
                           .decimals = 0});
  for (const learn::LeaveOutLine& line : table.lines) {
    std::vector<Value> row = {line.op, line.type, line.gpu,
                              CountOf(line.ceilings.n)};
    for (const LeaveOutModel& model : kLeaveOutModels) {
      const ErrorSummary& errors = line.*model.errors;
      for (double ErrorSummary::*error :
           {&ErrorSummary::gmae_pct, &ErrorSummary::mape_pct,
            &ErrorSummary::p90_pct, &ErrorSummary::p99_pct,
            &ErrorSummary::bias_pct}) {
        row.push_back(ErrorCell(errors, error));
      }
    }
    row.emplace_back(Share{line.nothing_inside});
    row.emplace_back(Share{line.ceilings_inside});
    lines.rows.push_back(std::move(row));
  }
  Facts spreads = {{{.key = "spreads."}, true}};
  for (const auto& [family, spread] : table.spreads) {
    for (const auto& [name, of] :
         {std::pair("nothing_measured", &spread.nothing),
          std::pair("ceilings", &spread.ceilings)}) {
      const std::string prefix = fmt::format("spreads.{}.{}.", family, name);
      spreads.push_back({{.key = prefix + "log2_p10"}, of->log2_p10});
      spreads.push_back({{.key = prefix + "log2_p90"}, of->log2_p90});
    }
  }
  Doc doc;
  doc.title = "kernels of GPUs that are in no fit";
  doc.csv = lines;
  doc.blocks.emplace_back(std::move(lines));
  doc.blocks.emplace_back(std::move(spreads));
  return doc;
}

}  // namespace stepcast::view
