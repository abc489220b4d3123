// The JSON of a predicted step.
#include "base/json_write.h"
#include "report/breakdown.h"
#include "report/json_parts.h"
#include "report/prediction.h"

namespace stepcast::report {
namespace {

constexpr size_t kMostPathPartsInJson = 40;

void WriteSubject(JsonWriter& json, const PredictionReport& report) {
  const PredictionSubject& subject = report.subject;
  json.Key("workload").String(subject.workload);
  json.Key("platform").String(subject.platform);
  json.Key("gpu").String(subject.server ? "" : subject.gpu);
  if (subject.server) {
    json.Key("server").String(subject.gpu);
  }
  json.Key("num_gpus").Int(subject.num_gpus);
  json.Key("batch_per_gpu").Int(subject.batch_per_gpu);
  json.Key("precision").String(subject.precision);
  json.Key("mode").String(subject.mode);
  json.Key("impl").String(subject.impl);
  json.Key("overheads").String(subject.overheads);
  json.Key("window").String(subject.window);
}

void WriteInterval(JsonWriter& json, const engine::StepInterval& interval) {
  json.Key("interval_us").BeginObject();
  WriteTime(json, "p10", interval.p10);
  WriteTime(json, "p50", interval.p50);
  WriteTime(json, "p90", interval.p90);
  json.EndObject();
}

void WriteAlgorithms(JsonWriter& json,
                     const std::vector<AlgorithmStep>& algorithms) {
  json.Key("algorithms").BeginArray();
  for (const AlgorithmStep& algorithm : algorithms) {
    json.BeginObject();
    json.Key("name").String(algorithm.name);
    WriteTime(json, "step_time_us", algorithm.step);
    WriteTime(json, "gpu_active_us", algorithm.gpu_active);
    json.EndObject();
  }
  json.EndArray();
}

void WriteRanks(JsonWriter& json, const PredictionReport& report) {
  json.Key("ranks").BeginArray();
  for (const engine::RankAccount& account : report.ranks) {
    json.BeginObject();
    json.Key("rank").Int(account.rank);
    json.Key("alike").Int(account.alike);
    WriteTime(json, "step_time_us", account.step);
    WriteTime(json, "gpu_active_us", account.gpu_active);
    WriteTime(json, "exposed_comm_us", account.communication_exposed);
    WriteTime(json, "wait_us", account.collective_wait);
    for (const MeasuredStep& measured : report.measured) {
      if (measured.rank == account.rank) {
        WriteTime(json, "measured_us", measured.step);
      }
    }
    json.EndObject();
  }
  json.EndArray();
}

void WritePath(JsonWriter& json, const PathSummary& path) {
  json.Key("critical_path").BeginArray();
  for (size_t i = 0; i < path.longest.size() && i < kMostPathPartsInJson; ++i) {
    json.BeginObject();
    json.Key("kind").String(engine::Name(path.longest[i].kind));
    json.Key("name").String(path.longest[i].what);
    WriteTime(json, "us", path.longest[i].time);
    json.EndObject();
  }
  json.EndArray();
}

void WriteCoverage(JsonWriter& json, const PredictionReport& report) {
  json.Key("coverage").BeginObject();
  for (size_t i = 0; i < report.coverage.size(); ++i) {
    json.Key(engine::Name(static_cast<engine::PriceSource>(i)))
        .Fixed(report.coverage[i], kShareDecimals);
  }
  json.EndObject();
  json.Key("overhead_coverage").BeginObject();
  for (size_t i = 0; i < report.overhead_coverage.size(); ++i) {
    json.Key(cost::Name(static_cast<cost::OverheadSource>(i)))
        .Fixed(report.overhead_coverage[i], kShareDecimals);
  }
  json.EndObject();
}

void WriteMemory(JsonWriter& json, const MemoryUse& memory) {
  json.Key("memory").BeginObject();
  json.Key("hbm_bytes").Fixed(memory.hbm_bytes, 0);
  json.Key("hbm_capacity_bytes").Fixed(memory.hbm_capacity_bytes, 0);
  if (memory.host_bytes > 0) {
    json.Key("host_bytes").Fixed(memory.host_bytes, 0);
    json.Key("host_capacity_bytes").Fixed(memory.host_capacity_bytes, 0);
  }
  json.Key("fits").Bool(memory.fits() && memory.fits_host());
  json.Key("parts").BeginObject();
  for (const auto& [name, bytes] : memory.parts) {
    json.Key(name).Fixed(bytes, 0);
  }
  json.EndObject().EndObject();
}

}  // namespace

void WritePrediction(JsonWriter& json, const PredictionReport& report,
                     std::string_view version) {
  json.BeginObject();
  json.Key("version").String(version);
  if (report.question) {
    json.Key("scenario");
    scenario::WriteQuestion(json, *report.question);
  }
  WriteSubject(json, report);
  WriteTime(json, "step_time_us", report.step);
  json.Key("samples_per_s").Fixed(report.samples_per_s, 1);
  const engine::RankAccount& slowest = report.slowest;
  if (report.power_w > 0) {
    json.Key("power_w").Fixed(report.power_w, kTimeDecimals);
    json.Key("samples_per_joule").Double(report.samples_per_joule);
  }
  WriteTime(json, "gpu_active_us", slowest.gpu_active);
  WriteTime(json, "gpu_idle_us", slowest.step - slowest.gpu_active);
  WriteTime(json, "host_busy_us", slowest.host_busy);
  WriteInterval(json, report.interval);
  json.Key("breakdown_us");
  WriteBreakdown(json, slowest);
  json.Key("overheads_us");
  WriteOverheads(json, slowest);
  WriteAlgorithms(json, report.algorithms);
  WriteRanks(json, report);
  WritePath(json, report.critical_path);
  if (!report.ops.empty()) {
    json.Key("ops");
    WriteOps(json, report.ops);
  }
  WriteCoverage(json, report);
  if (report.memory) {
    WriteMemory(json, *report.memory);
  }
  json.Key("notes").BeginArray();
  for (const std::string& note : report.notes) {
    json.String(note);
  }
  json.EndArray().EndObject();
}

std::string PredictionJson(const PredictionReport& report,
                           std::string_view version) {
  JsonWriter json;
  WritePrediction(json, report, version);
  return json.Take();
}

}  // namespace stepcast::report
