// What changes do to a step, for programs.
#include "base/json_write.h"
#include "base/units.h"
#include "report/json_parts.h"
#include "report/whatif.h"

namespace stepcast::report {
namespace {

constexpr size_t kMostPathChangesInJson = 40;

void WriteDelta(JsonWriter& json, const WhatifReport& report) {
  json.Key("delta").BeginObject();
  WriteTime(json, "step_time_us", report.delta.step);
  json.Key("step_time_pct")
      .Fixed(report.before.step.count() == 0
                 ? 0
                 : kPercent * static_cast<double>(report.delta.step.count()) /
                       static_cast<double>(report.before.step.count()),
             kTimeDecimals);
  json.Key("interval_us").BeginObject();
  WriteTime(json, "p10", report.delta.p10);
  WriteTime(json, "p50", report.delta.p50);
  WriteTime(json, "p90", report.delta.p90);
  json.EndObject();
  json.Key("bound").Bool(report.bound);
  json.EndObject();
}

void WritePath(JsonWriter& json, const WhatifReport& report) {
  json.Key("critical_path_changes").BeginArray();
  for (size_t i = 0; i < report.path.size() && i < kMostPathChangesInJson;
       ++i) {
    const PathChange& change = report.path[i];
    json.BeginObject();
    json.Key("kind").String(engine::Name(change.kind));
    json.Key("name").String(change.what);
    WriteTime(json, "before_us", change.before);
    WriteTime(json, "after_us", change.after);
    json.EndObject();
  }
  json.EndArray();
  const PathSummary& path = report.after.critical_path;
  if (!path.longest.empty()) {
    json.Key("next_bottleneck").BeginObject();
    json.Key("kind").String(engine::Name(path.longest.front().kind));
    json.Key("name").String(path.longest.front().what);
    WriteTime(json, "us", path.longest.front().time);
    json.EndObject();
  }
}

}  // namespace

std::string WhatifJson(const WhatifReport& report, std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("workload").String(report.before.subject.workload);
  WriteStrings(json, "changes", report.changes);
  WriteDelta(json, report);
  WritePath(json, report);
  WriteStrings(json, "notes", report.notes);
  json.Key("before");
  WritePrediction(json, report.before, version);
  json.Key("after");
  WritePrediction(json, report.after, version);
  json.EndObject();
  return json.Take();
}

}  // namespace stepcast::report
