// Two steps side by side, for programs.
#include "base/json_write.h"
#include "report/compare.h"
#include "report/json_parts.h"

namespace stepcast::report {
namespace {

void WriteSide(JsonWriter& json, const ComparedStep& step) {
  json.BeginObject();
  json.Key("name").String(step.name);
  WriteTime(json, "step_time_us", step.step);
  WriteTime(json, "gpu_active_us", step.gpu_active);
  WriteTime(json, "host_busy_us", step.host_busy);
  if (step.samples_per_s > 0) {
    json.Key("samples_per_s").Fixed(step.samples_per_s, 1);
  }
  json.EndObject();
}

void WriteOp(JsonWriter& json, std::string_view key, const OpTimes& times) {
  json.Key(key).BeginObject();
  json.Key("count").Int(static_cast<int64_t>(times.count));
  WriteTime(json, "gpu_us", times.device);
  WriteTime(json, "host_us", times.host);
  json.EndObject();
}

}  // namespace

std::string ComparisonJson(const Comparison& comparison,
                           std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("a");
  WriteSide(json, comparison.a);
  json.Key("b");
  WriteSide(json, comparison.b);
  json.Key("delta").BeginObject();
  WriteTime(json, "step_time_us", comparison.b.step - comparison.a.step);
  json.Key("step_time_pct")
      .Fixed(PercentLonger(comparison.a.step, comparison.b.step),
             kTimeDecimals);
  json.EndObject();
  json.Key("parts").BeginArray();
  for (const PartDifference& part : comparison.parts) {
    json.BeginObject();
    json.Key("name").String(part.name);
    WriteTime(json, "a_us", part.a);
    WriteTime(json, "b_us", part.b);
    json.EndObject();
  }
  json.EndArray();
  json.Key("ops").BeginArray();
  for (const OpDifference& op : comparison.ops) {
    json.BeginObject();
    json.Key("name").String(op.name);
    WriteOp(json, "a", op.a);
    WriteOp(json, "b", op.b);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace stepcast::report
