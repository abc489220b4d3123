#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text_table.h"
#include "report/collective_accuracy.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

std::string_view Where(bool over_network) {
  return over_network ? "network" : "node";
}

void AddRow(TextTable& table, const CollectiveLine& line) {
  table.AddRow({line.system, line.kind, std::string(Where(line.over_network)),
                fmt::format("{}", line.ours.n), PercentCell(line.ours.gmae_pct),
                PercentCell(line.ours.mape_pct), PercentCell(line.ours.p90_pct),
                PercentCell(100 * line.in_interval),
                PercentCell(line.formula.gmae_pct)});
}

void AddRow(TextTable& table, const fit::CollectiveLeaveOutLine& line) {
  table.AddRow({line.system, line.kind, std::string(Where(line.over_network)),
                fmt::format("{}", line.errors.n),
                PercentCell(line.errors.gmae_pct),
                PercentCell(line.errors.mape_pct),
                PercentCell(line.errors.bias_pct), std::string(line.odd)});
}

void WriteCollectiveErrors(JsonWriter& json, const ErrorSummary& errors) {
  json.BeginObject();
  json.Key("n").Int(static_cast<int64_t>(errors.n));
  json.Key("gmae_pct").Double(errors.gmae_pct);
  json.Key("mape_pct").Double(errors.mape_pct);
  json.Key("p90_pct").Double(errors.p90_pct);
  json.Key("bias_pct").Double(errors.bias_pct);
  json.EndObject();
}

void WriteLine(JsonWriter& json, const CollectiveLine& line) {
  json.BeginObject();
  json.Key("system").String(line.system);
  json.Key("collective").String(line.kind);
  json.Key("within").String(Where(line.over_network));
  json.Key("ours");
  WriteCollectiveErrors(json, line.ours);
  json.Key("in_p10_p90").Double(line.in_interval);
  json.Key("formula");
  WriteCollectiveErrors(json, line.formula);
  json.EndObject();
}

void WriteLine(JsonWriter& json, const fit::CollectiveLeaveOutLine& line) {
  json.BeginObject();
  json.Key("system").String(line.system);
  json.Key("collective").String(line.kind);
  json.Key("within").String(Where(line.over_network));
  json.Key("errors");
  WriteCollectiveErrors(json, line.errors);
  if (!line.odd.empty()) {
    json.Key("odd").String(line.odd);
  }
  json.EndObject();
}

template <typename Lines>
void WriteLines(JsonWriter& json, std::string_view key, const Lines& lines) {
  json.Key(key).BeginArray();
  for (const auto& line : lines) {
    WriteLine(json, line);
  }
  json.EndArray();
}

}  // namespace

std::string CollectiveAccuracyText(const CollectiveAccuracy& accuracy) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight});
  table.AddRow({"system", "collective", "within", "rows", "GMAE%", "MAPE%",
                "p90%", "in p10-p90%", "formula%"});
  for (const CollectiveLine& line : accuracy.lines) {
    AddRow(table, line);
  }
  for (const CollectiveLine& line : accuracy.totals) {
    AddRow(table, line);
  }
  return fmt::format(
      "collectives, each system by its own curves; formula: links and shared "
      "constants alone\n{}",
      table.ToString());
}

void WriteCollectiveAccuracy(JsonWriter& json,
                             const CollectiveAccuracy& accuracy) {
  WriteLines(json, "collectives", accuracy.lines);
  WriteLines(json, "collective_totals", accuracy.totals);
}

std::string CollectiveLeaveOutText(const fit::CollectiveLeaveOut& table) {
  TextTable text({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight,
                  Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  text.AddRow({"system", "collective", "within", "rows", "GMAE%", "MAPE%",
               "bias%", "in no fit, because"});
  for (const fit::CollectiveLeaveOutLine& line : table.lines) {
    AddRow(text, line);
  }
  for (const fit::CollectiveLeaveOutLine& line : table.totals) {
    AddRow(text, line);
  }
  return fmt::format(
      "collectives by the formula, its constants fitted without any system of "
      "the GPU\n{}",
      text.ToString());
}

void WriteCollectiveLeaveOut(JsonWriter& json,
                             const fit::CollectiveLeaveOut& table) {
  WriteLines(json, "collectives", table.lines);
  WriteLines(json, "collective_totals", table.totals);
}

}  // namespace stepcast::report
