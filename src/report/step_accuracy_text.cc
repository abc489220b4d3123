#include "report/step_accuracy_text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/json_write.h"
#include "base/text_table.h"
#include "base/units.h"
#include "report/csv_cell.h"

namespace stepcast::report {
namespace {

// So many rows with the largest errors are shown.
constexpr size_t kWorstShown = 10;
// A word of a column is shown in so many letters.
constexpr size_t kWordWidth = 44;

void AddGroup(TextTable& table, const StepGroup& group, size_t columns) {
  std::vector<std::string> cells;
  for (size_t i = 0; i < columns; ++i) {
    cells.push_back(i < group.words.size()
                        ? ElideMiddle(Printable(group.words[i]), kWordWidth)
                        : std::string(i == 0 ? "all" : ""));
  }
  cells.push_back(fmt::format("{}", group.errors.n));
  cells.push_back(fmt::format("{:.1f}", group.errors.gmae_pct));
  cells.push_back(fmt::format("{:.1f}", group.errors.mape_pct));
  cells.push_back(fmt::format("{:+.1f}", group.errors.bias_pct));
  cells.push_back(fmt::format("{:.1f}", group.worst_pct));
  cells.push_back(fmt::format("{:.0f}", kPercent * group.in_interval));
  table.AddRow(std::move(cells));
}

std::string GroupText(const StepAccuracy& accuracy) {
  std::vector<Align> aligns(accuracy.columns.size(), Align::kLeft);
  aligns.insert(aligns.end(), 6, Align::kRight);
  TextTable table(aligns);
  std::vector<std::string> header = accuracy.columns;
  for (const char* name : {"n", "GMAE%", "MAPE%", "bias%", "worst%", "in80%"}) {
    header.emplace_back(name);
  }
  table.AddRow(std::move(header));
  for (const StepGroup& group : accuracy.groups) {
    AddGroup(table, group, accuracy.columns.size());
  }
  AddGroup(table, accuracy.all, accuracy.columns.size());
  return table.ToString();
}

std::string WorstText(const StepAccuracy& accuracy) {
  std::vector<const PredictedStep*> worst;
  for (const PredictedStep& step : accuracy.rows) {
    worst.push_back(&step);
  }
  std::ranges::stable_sort(
      worst, std::ranges::greater{}, [](const PredictedStep* step) {
        return std::abs(std::log(step->predicted_ms / step->row->step_time_ms));
      });
  worst.resize(std::min(worst.size(), kWorstShown));
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"farthest off", "measured ms", "predicted ms", "error%"});
  for (const PredictedStep* step : worst) {
    table.AddRow({Printable(step->row->id),
                  fmt::format("{:.3f}", step->row->step_time_ms),
                  fmt::format("{:.3f}", step->predicted_ms),
                  fmt::format("{:+.1f}", step->error_pct())});
  }
  return worst.empty() ? "" : "\n" + table.ToString();
}

std::string SkippedText(const StepAccuracy& accuracy) {
  std::map<std::string, size_t> reasons;
  for (const SkippedStep& skipped : accuracy.skipped) {
    ++reasons[skipped.why];
  }
  std::string text = fmt::format("\n{} rows predicted, {} skipped",
                                 accuracy.rows.size(), accuracy.skipped.size());
  text += reasons.empty() ? "\n" : ":\n";
  for (const auto& [why, count] : reasons) {
    text += fmt::format("{:>6}  {}\n", count, Printable(why));
  }
  return text;
}

void WriteErrors(JsonWriter& json, const StepGroup& group) {
  json.Key("n").Int(static_cast<int64_t>(group.errors.n));
  json.Key("gmae_pct").Fixed(group.errors.gmae_pct, 3);
  json.Key("mape_pct").Fixed(group.errors.mape_pct, 3);
  json.Key("bias_pct").Fixed(group.errors.bias_pct, 3);
  json.Key("max_abs_pct").Fixed(group.worst_pct, 3);
  json.Key("in_p10_p90").Fixed(group.in_interval, 4);
}

void WriteStep(JsonWriter& json, const PredictedStep& step) {
  json.BeginObject();
  json.Key("id").String(step.row->id);
  json.Key("measured_ms").Double(step.row->step_time_ms);
  json.Key("predicted_ms").Fixed(step.predicted_ms, 6);
  json.Key("error_pct").Fixed(step.error_pct(), 3);
  json.Key("in_p10_p90").Bool(step.in_interval());
  json.Key("p10_ms").Fixed(step.p10_ms, 6);
  json.Key("p90_ms").Fixed(step.p90_ms, 6);
  json.Key("gpu_active_ms").Fixed(step.gpu_active_ms, 6);
  json.Key("workload").String(step.workload);
  json.Key("impl").String(step.impl);
  json.Key("gpu").String(step.gpu);
  json.Key("batch_per_gpu").Int(step.row->batch_per_gpu);
  json.EndObject();
}

}  // namespace

std::string StepAccuracyText(const StepAccuracy& accuracy) {
  return GroupText(accuracy) + WorstText(accuracy) + SkippedText(accuracy);
}

std::string StepAccuracyJson(const StepAccuracy& accuracy,
                             std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("rows").BeginArray();
  for (const PredictedStep& step : accuracy.rows) {
    WriteStep(json, step);
  }
  json.EndArray();
  json.Key("skipped").BeginArray();
  for (const SkippedStep& skipped : accuracy.skipped) {
    json.BeginObject();
    json.Key("id").String(skipped.row->id);
    json.Key("why").String(skipped.why);
    json.EndObject();
  }
  json.EndArray();
  json.Key("groups").BeginArray();
  for (const StepGroup& group : accuracy.groups) {
    json.BeginObject();
    for (size_t i = 0; i < group.words.size(); ++i) {
      json.Key(accuracy.columns[i]).String(group.words[i]);
    }
    WriteErrors(json, group);
    json.EndObject();
  }
  json.EndArray();
  json.Key("summary").BeginObject();
  json.Key("skipped").Int(static_cast<int64_t>(accuracy.skipped.size()));
  WriteErrors(json, accuracy.all);
  json.EndObject().EndObject();
  return json.Take();
}

std::string StepAccuracyCsv(const StepAccuracy& accuracy) {
  std::string text =
      "id,implementation,mode,model,gpu,batch_per_gpu,precision,measured_ms,"
      "predicted_ms,error_pct,p10_ms,p90_ms,gpu_active_ms\n";
  for (const PredictedStep& step : accuracy.rows) {
    for (const std::string_view column :
         {"id", "implementation", "mode", "model", "gpu", "batch_per_gpu",
          "precision"}) {
      text += CsvCell(step.row->Word(column)) + ",";
    }
    text +=
        fmt::format("{},{:.6f},{:.3f},{:.6f},{:.6f},{:.6f}\n",
                    step.row->step_time_ms, step.predicted_ms, step.error_pct(),
                    step.p10_ms, step.p90_ms, step.gpu_active_ms);
  }
  return text;
}

}  // namespace stepcast::report
