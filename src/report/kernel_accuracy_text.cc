#include "report/kernel_accuracy_text.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/json_write.h"
#include "base/text_table.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

// Rows left out are named one by one up to this many; the rest is counted.
constexpr size_t kMostNamed = 20;

std::string PercentOrDash(const ErrorSummary& summary) {
  return summary.n == 0 ? "-" : PercentCell(summary.gmae_pct);
}

// A line of the table; `head` are its first four columns.
void AddLine(TextTable& table, const std::array<std::string, 4>& head,
             const AccuracyLine& line, const RepeatNoise& noise) {
  table.AddRow({head[0], head[1], head[2], head[3],
                fmt::format("{}", line.ours.n), PercentCell(line.ours.gmae_pct),
                PercentCell(line.ours.mape_pct), PercentCell(line.ours.p90_pct),
                PercentCell(line.ours.p99_pct),
                fmt::format("{:+.1f}", line.ours.bias_pct),
                fmt::format("{:.0f}", 100 * line.in_interval),
                PercentOrDash(line.formula), PercentOrDash(line.roofline),
                PercentOrDash(line.lin2022),
                noise.shapes == 0 ? "" : PercentCell(noise.gmae_pct)});
}

void WriteLine(JsonWriter& json, const AccuracyLine& line) {
  json.Key("n").Int(static_cast<int64_t>(line.ours.n));
  json.Key("gmae_pct").Double(line.ours.gmae_pct);
  json.Key("mape_pct").Double(line.ours.mape_pct);
  json.Key("p90_pct").Double(line.ours.p90_pct);
  json.Key("p99_pct").Double(line.ours.p99_pct);
  json.Key("bias_pct").Double(line.ours.bias_pct);
  json.Key("in_p10_p90").Double(line.in_interval);
  json.Key("formula_gmae_pct").Double(line.formula.gmae_pct);
  json.Key("roofline_gmae_pct").Double(line.roofline.gmae_pct);
  if (line.lin2022.n > 0) {
    json.Key("lin2022_gmae_pct").Double(line.lin2022.gmae_pct);
  }
}

}  // namespace

std::string KernelAccuracyText(const KernelAccuracy& accuracy,
                               const measurements::KernelRows& rows) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"op", "gpu", "dtype", "timing", "n", "GMAE%", "MAPE%", "p90%",
                "p99%", "bias%", "in80%", "formula", "roofline", "lin2022",
                "noise"});
  size_t below = 0;
  size_t unpriced = 0;
  for (const AccuracyGroup& group : accuracy.groups) {
    AddLine(table, {group.op, group.gpu, group.dtype, group.timing}, group.all,
            group.noise);
    for (const AccuracyLine& part : group.parts) {
      AddLine(table, {"  " + part.name}, part, {});
    }
    below += group.below_floor;
    unpriced += group.unpriced;
  }
  if (accuracy.groups.size() > accuracy.families.size()) {
    for (const AccuracyLine& family : accuracy.families) {
      AddLine(table, {family.name, "all"}, family, {});
    }
  }
  std::string text = table.ToString();
  text += fmt::format(
      "\nformula, roofline, lin2022: GMAE% of our formula alone, of the plain "
      "roofline and of the\npapers' formulas on the same rows; noise: of "
      "repeats of one shape about their mean.\nNot judged: {} rows under 1.5 "
      "launch floors, {} without a model, {} flagged, {} skipped.\n",
      below, unpriced, accuracy.flagged.size(), rows.skipped.size());
  size_t named = 0;
  for (const FlaggedRow& row : accuracy.flagged) {
    if (++named <= kMostNamed) {
      text += fmt::format("  flagged {}:{}: {}\n", row.file, row.line, row.why);
    }
  }
  for (const measurements::SkippedRow& row : rows.skipped) {
    if (++named <= kMostNamed) {
      text += fmt::format("  skipped {}:{}: {}\n", rows.tables[row.table],
                          row.line, row.why);
    }
  }
  if (named > kMostNamed) {
    text += fmt::format("  ... and {} more; --json lists all\n",
                        named - kMostNamed);
  }
  return text;
}

std::string KernelAccuracyJson(const KernelAccuracy& accuracy,
                               const measurements::KernelRows& rows,
                               std::string_view version,
                               const CollectiveAccuracy* collectives) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("groups").BeginArray();
  for (const AccuracyGroup& group : accuracy.groups) {
    json.BeginObject();
    json.Key("op").String(group.op);
    json.Key("gpu").String(group.gpu);
    json.Key("dtype").String(group.dtype);
    json.Key("timing").String(group.timing);
    json.Key("skipped").Int(static_cast<int64_t>(
        group.below_floor + group.flagged + group.unpriced));
    json.Key("below_floor").Int(static_cast<int64_t>(group.below_floor));
    json.Key("flagged").Int(static_cast<int64_t>(group.flagged));
    json.Key("unpriced").Int(static_cast<int64_t>(group.unpriced));
    WriteLine(json, group.all);
    json.Key("repeated_shapes").Int(static_cast<int64_t>(group.noise.shapes));
    if (group.noise.shapes > 0) {
      json.Key("repeat_gmae_pct").Double(group.noise.gmae_pct);
      json.Key("repeat_over_10_pct").Double(group.noise.over_10_pct);
    }
    json.Key("parts").BeginArray();
    for (const AccuracyLine& part : group.parts) {
      json.BeginObject();
      json.Key("name").String(part.name);
      WriteLine(json, part);
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
  json.Key("ops").BeginArray();
  for (const AccuracyLine& family : accuracy.families) {
    json.BeginObject();
    json.Key("op").String(family.name);
    WriteLine(json, family);
    json.EndObject();
  }
  json.EndArray();
  if (collectives != nullptr) {
    WriteCollectiveAccuracy(json, *collectives);
  }
  json.Key("flagged").BeginArray();
  for (const FlaggedRow& row : accuracy.flagged) {
    json.BeginObject();
    json.Key("file").String(row.file);
    json.Key("line").Int(row.line);
    json.Key("why").String(row.why);
    json.EndObject();
  }
  json.EndArray();
  json.Key("skipped").BeginArray();
  for (const measurements::SkippedRow& row : rows.skipped) {
    json.BeginObject();
    json.Key("file").String(rows.tables[row.table]);
    json.Key("line").Int(row.line);
    json.Key("why").String(row.why);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace stepcast::report
