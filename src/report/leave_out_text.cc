#include "report/leave_out_text.h"

#include <array>

#include <fmt/format.h>

#include "base/json_write.h"
#include "base/text_table.h"

namespace stepcast::report {
namespace {

// MAPE and GMAE.
std::string Both(const ErrorSummary& summary) {
  return summary.n == 0
             ? "-"
             : fmt::format("{:.1f}/{:.1f}", summary.mape_pct, summary.gmae_pct);
}

struct Model {
  std::string_view key;
  ErrorSummary fit::LeaveOutLine::*errors = nullptr;
};
constexpr std::array kModels = {
    Model{"roofline", &fit::LeaveOutLine::roofline},
    Model{"trees", &fit::LeaveOutLine::trees},
    Model{"nothing_measured", &fit::LeaveOutLine::nothing},
    Model{"ceilings", &fit::LeaveOutLine::ceilings},
    Model{"few_rows", &fit::LeaveOutLine::few_rows}};

void WriteModelErrors(JsonWriter& json, const ErrorSummary& errors) {
  json.BeginObject();
  json.Key("gmae_pct").Double(errors.gmae_pct);
  json.Key("mape_pct").Double(errors.mape_pct);
  json.Key("p90_pct").Double(errors.p90_pct);
  json.Key("p99_pct").Double(errors.p99_pct);
  json.Key("bias_pct").Double(errors.bias_pct);
  json.EndObject();
}

void WriteSpread(JsonWriter& json, const cost::FormulaSpread& spread) {
  json.BeginObject();
  json.Key("log2_p10").Double(spread.log2_p10);
  json.Key("log2_p90").Double(spread.log2_p90);
  json.EndObject();
}

}  // namespace

std::string LeaveOutText(const fit::LeaveOutTable& table) {
  TextTable text({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight,
                  Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                  Align::kRight, Align::kRight, Align::kRight});
  text.AddRow({"op", "type", "gpu left out", "n", "roofline", "trees",
               "nothing", "in80%", "ceilings", "in80%",
               fmt::format("{} rows", fit::kFewRows)});
  for (const fit::LeaveOutLine& line : table.lines) {
    text.AddRow(
        {line.op, line.type, line.gpu, fmt::format("{}", line.ceilings.n),
         Both(line.roofline), Both(line.trees), Both(line.nothing),
         fmt::format("{:.0f}", 100 * line.nothing_inside), Both(line.ceilings),
         fmt::format("{:.0f}", 100 * line.ceilings_inside),
         Both(line.few_rows)});
  }
  return text.ToString() +
         fmt::format(
             "\nMAPE%/GMAE% on test rows of GPUs whose chip is left out of "
             "every fit. Ours: the formula\nwith nothing measured on the GPU, "
             "with its measured ceilings, and corrected by {} of its\nrows. "
             "roofline: datasheet peaks. trees: the formula with ceilings, "
             "corrected by trees that\nlearned from the other chips. in80%: "
             "rows inside the p10-p90 interval that the errors\non the other "
             "chips give.\n",
             fit::kFewRows);
}

std::string LeaveOutJson(const fit::LeaveOutTable& table,
                         std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("lines").BeginArray();
  for (const fit::LeaveOutLine& line : table.lines) {
    json.BeginObject();
    json.Key("op").String(line.op);
    json.Key("type").String(line.type);
    json.Key("gpu").String(line.gpu);
    json.Key("n").Int(static_cast<int64_t>(line.ceilings.n));
    for (const Model& model : kModels) {
      const ErrorSummary& errors = line.*model.errors;
      if (errors.n > 0) {
        json.Key(model.key);
        WriteModelErrors(json, errors);
      }
    }
    json.Key("nothing_measured_in_p10_p90").Double(line.nothing_inside);
    json.Key("ceilings_in_p10_p90").Double(line.ceilings_inside);
    json.EndObject();
  }
  json.EndArray();
  json.Key("spreads").BeginObject();
  for (const auto& [family, spread] : table.spreads) {
    json.Key(family).BeginObject();
    json.Key("nothing_measured");
    WriteSpread(json, spread.nothing);
    json.Key("ceilings");
    WriteSpread(json, spread.ceilings);
    json.EndObject();
  }
  json.EndObject();
  json.EndObject();
  return json.Take();
}

}  // namespace stepcast::report
