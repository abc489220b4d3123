#include "report/doctor_json.h"

#include "base/json_write.h"
#include "ir/names.h"
#include "report/json_parts.h"

namespace stepcast::report {
namespace {

void WriteVerdict(JsonWriter& json, const InputVerdict& verdict) {
  json.Key("verdict").BeginObject();
  json.Key("replay").Bool(verdict.replay);
  json.Key("host_only").Bool(verdict.host_only);
  json.Key("prediction").Bool(verdict.prediction);
  json.Key("missing").BeginArray();
  for (const std::string& what : verdict.missing) {
    json.String(what);
  }
  json.EndArray().EndObject();
}

void WriteDiagnostics(JsonWriter& json, const Diagnostics& diagnostics) {
  json.Key("diagnostics").BeginArray();
  for (const Diagnostic& item : diagnostics.list()) {
    json.BeginObject();
    json.Key("name").String(item.kind.name);
    json.Key("severity")
        .String(item.kind.severity == Severity::kInfo ? "info" : "warning");
    json.Key("count").Int(item.count);
    json.Key("what").String(item.kind.what);
    json.Key("advice").String(item.kind.advice);
    json.Key("examples").BeginArray();
    for (const std::string& example : item.examples) {
      json.String(example);
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

void WriteCoverage(JsonWriter& json, const Coverage& coverage) {
  json.Key("works").Int(coverage.works);
  WriteTime(json, "gpu_time_us", coverage.time);
  json.Key("classified").Fixed(coverage.classified_share(), kShareDecimals);
  json.Key("sized").Fixed(coverage.sized_share(), kShareDecimals);
  json.Key("families").BeginArray();
  for (const FamilyTime& row : coverage.families) {
    json.BeginObject();
    json.Key("family").String(row.family);
    json.Key("works").Int(row.count);
    WriteTime(json, "time_us", row.time);
    WriteTime(json, "sized_us", row.sized);
    json.EndObject();
  }
  json.EndArray();
  json.Key("unclassified").BeginArray();
  for (const UnknownKernel& row : coverage.unknown) {
    json.BeginObject();
    json.Key("name").String(row.name);
    json.Key("works").Int(row.count);
    WriteTime(json, "time_us", row.time);
    json.EndObject();
  }
  json.EndArray();
}

void WriteSteps(JsonWriter& json, const TraceFacts& facts) {
  json.Key("steps_found_by").String(Name(facts.step_source));
  json.Key("step_marker").String(facts.step_marker);
  json.Key("steps").BeginArray();
  for (const StepFacts& step : facts.steps) {
    json.BeginObject();
    json.Key("step").Int(step.number);
    WriteTime(json, "start_us", step.start);
    WriteTime(json, "time_us", step.duration);
    WriteTime(json, "gpu_busy_us", step.busy);
    json.EndObject();
  }
  json.EndArray();
}

void WriteTrace(JsonWriter& json, const TraceFacts& facts) {
  json.Key("profiler").BeginObject();
  WriteSteps(json, facts);
  json.Key("ops").Int(facts.ops);
  json.Key("ops_with_shapes").Int(facts.ops_with_shapes);
  json.Key("annotations").Int(facts.annotations);
  json.Key("threads_with_ops").Int(facts.threads_with_ops);
  json.Key("runtime_calls").Int(facts.runtime_calls);
  json.Key("kernels").Int(facts.kernels);
  json.Key("copies").Int(facts.copies);
  json.Key("streams").Int(facts.streams);
  json.Key("sync_events").Int(facts.sync_events);
  json.Key("orphans").Int(facts.orphans);
  WriteTime(json, "gpu_busy_us", facts.busy);
  WriteTime(json, "gpu_span_us", facts.span);
  WriteTime(json, "collectives_us", facts.collective_busy);
  json.Key("external_id").BeginObject();
  json.Key("is_correlation").Bool(facts.external_ids.is_correlation);
  json.Key("linked").Int(facts.external_ids.linked);
  json.EndObject();
  json.Key("skipped_events").BeginObject();
  for (const NamedCount& kind : facts.skipped) {
    json.Key(kind.name).Int(kind.count);
  }
  json.EndObject().EndObject();
}

void WriteExecution(JsonWriter& json, const ExecutionFacts& facts) {
  json.Key("execution").BeginObject();
  json.Key("ops").Int(facts.ops);
  json.Key("ops_with_shapes").Int(facts.ops_with_shapes);
  json.Key("annotations").Int(facts.annotations);
  json.Key("threads_with_ops").Int(facts.threads_with_ops);
  json.Key("device_nodes").Int(facts.device_nodes);
  json.EndObject();
}

void WritePairing(JsonWriter& json, const PairingFacts& facts) {
  json.Key("pairing").BeginObject();
  json.Key("threads").BeginArray();
  for (const ThreadPairing& thread : facts.threads) {
    json.BeginObject();
    json.Key("execution_thread").Int(thread.execution_thread);
    json.Key("trace_thread").String(thread.trace_thread);
    json.Key("nodes").Int(thread.nodes);
    json.Key("matches").Int(thread.matches);
    json.EndObject();
  }
  json.EndArray();
  json.Key("compared_shapes").Int(facts.compared_shapes);
  json.Key("different_shapes").Int(facts.different_shapes);
  json.EndObject();
}

void WriteGraph(JsonWriter& json, const GraphFacts& facts) {
  json.Key("graph").BeginObject();
  json.Key("ranks").Int(facts.ranks);
  json.Key("threads").Int(facts.threads);
  json.Key("streams").Int(facts.streams);
  json.Key("ops").Int(facts.ops);
  json.Key("calls").Int(facts.calls);
  json.Key("works").Int(facts.works);
  json.Key("measured_ops").Int(facts.measured_ops);
  json.Key("measured_works").Int(facts.measured_works);
  json.Key("collectives").Int(facts.collectives);
  json.EndObject();
}

void WriteFiles(JsonWriter& json, const RankReport& rank) {
  json.Key("files").BeginArray();
  for (const FileFacts& file : rank.files) {
    json.BeginObject();
    json.Key("path").String(file.path);
    json.Key("format").String(file.format);
    json.Key("dialect").String(file.dialect);
    json.Key("schema").String(file.schema);
    json.Key("text_bytes").Int(static_cast<int64_t>(file.text_bytes));
    json.EndObject();
  }
  json.EndArray();
  json.Key("gpus").BeginArray();
  for (const ingest::DeviceInfo& device : rank.devices) {
    json.String(device.name);
  }
  json.EndArray();
}

void WriteRank(JsonWriter& json, const RankReport& rank) {
  json.BeginObject();
  json.Key("rank").Int(rank.rank);
  json.Key("rank_recorded").Bool(rank.rank_recorded);
  json.Key("world_size");
  rank.world_size ? json.Int(*rank.world_size) : json.Null();
  json.Key("backend").String(rank.backend);
  WriteFiles(json, rank);
  WriteVerdict(json, rank.verdict);
  if (rank.trace) {
    WriteTrace(json, *rank.trace);
  }
  if (rank.execution) {
    WriteExecution(json, *rank.execution);
  }
  if (rank.pairing) {
    WritePairing(json, *rank.pairing);
  }
  if (rank.graph) {
    WriteGraph(json, *rank.graph);
  }
  WriteCoverage(json, rank.coverage);
  WriteDiagnostics(json, rank.diagnostics);
  json.EndObject();
}

void WriteCollectives(JsonWriter& json,
                      const std::vector<CollectiveFacts>& list) {
  json.Key("collectives").BeginArray();
  for (const CollectiveFacts& facts : list) {
    json.BeginObject();
    json.Key("kind").String(ir::Name(facts.kind));
    json.Key("ranks").Int(facts.ranks);
    json.Key("bytes").Int(facts.bytes.count);
    WriteTime(json, "start_us", facts.start);
    WriteTime(json, "start_skew_us", facts.skew);
    WriteTime(json, "own_us", facts.own);
    WriteTime(json, "end_skew_us", facts.end_skew);
    json.Key("last_rank").Int(facts.last_rank);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string DoctorJson(const DoctorReport& report, std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  WriteVerdict(json, report.verdict);
  json.Key("ranks").BeginArray();
  for (const RankReport& rank : report.ranks) {
    WriteRank(json, rank);
  }
  json.EndArray();
  json.Key("collectives_step");
  report.collectives_step ? json.Int(*report.collectives_step) : json.Null();
  WriteCollectives(json, report.collectives);
  WriteDiagnostics(json, report.diagnostics);
  json.EndObject();
  return json.Take();
}

}  // namespace stepcast::report
