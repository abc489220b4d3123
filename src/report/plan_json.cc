// Plans for scripts.
#include "base/json_write.h"
#include "report/plan_report.h"

namespace stepcast::report {
namespace {

constexpr int kMicroDecimals = 3;

void WriteRow(const PlanRow& row, JsonWriter& json) {
  json.BeginObject();
  json.Key("sharder").String(row.sharder);
  json.Key("step_time_us");
  if (row.step_us) {
    json.Fixed(*row.step_us, kMicroDecimals);
  } else {
    json.Null();
  }
  json.Key("cost_us").Fixed(row.cost_us, kMicroDecimals);
  json.Key("forward_us").Fixed(row.cost.forward_us, kMicroDecimals);
  json.Key("backward_us").Fixed(row.cost.backward_us, kMicroDecimals);
  json.Key("exchange_us")
      .Fixed(row.cost.forward_exchange_us + row.cost.backward_exchange_us,
             kMicroDecimals);
  json.Key("host_us").Fixed(row.cost.host_us, kMicroDecimals);
  json.Key("hbm_bytes").Fixed(row.hbm_bytes, 0);
  json.Key("fits").Bool(row.fits);
  json.Key("evaluations").Int(row.evaluations);
  json.EndObject();
}

void WriteRank(const PlanRank& rank, JsonWriter& json) {
  json.BeginObject();
  json.Key("rank").Int(rank.rank);
  json.Key("hbm_bytes").Fixed(rank.hbm_bytes, 0);
  json.Key("ddr_bytes").Fixed(rank.ddr_bytes, 0);
  json.Key("perf_us").Fixed(rank.perf_us(), kMicroDecimals);
  json.Key("forward_compute_us").Fixed(rank.forward_compute_us, kMicroDecimals);
  json.Key("forward_comms_us").Fixed(rank.forward_comms_us, kMicroDecimals);
  json.Key("backward_compute_us")
      .Fixed(rank.backward_compute_us, kMicroDecimals);
  json.Key("backward_comms_us").Fixed(rank.backward_comms_us, kMicroDecimals);
  json.Key("input_bytes").Fixed(rank.input_bytes, 0);
  json.Key("output_bytes").Fixed(rank.output_bytes, 0);
  json.Key("shards").BeginObject();
  for (size_t i = 0; i < rank.shards.size(); ++i) {
    json.Key(plan::Name(static_cast<plan::Sharding>(i))).Int(rank.shards[i]);
  }
  json.EndObject();
  json.EndObject();
}

void WriteTable(const PlanTable& table, JsonWriter& json) {
  json.BeginObject();
  json.Key("table").String(table.name);
  json.Key("rows").Int(table.rows);
  json.Key("dim").Int(table.dim);
  json.Key("pooling").Double(table.pooling);
  json.Key("sharding_type").String(plan::Name(table.sharding));
  json.Key("ranks").BeginArray();
  for (const int rank : table.ranks) {
    json.Int(rank);
  }
  json.EndArray();
  json.EndObject();
}

void WriteWhyNot(const PlanReport& report, JsonWriter& json) {
  json.Key("why_not");
  if (!report.why_not) {
    json.Null();
    return;
  }
  json.BeginObject();
  json.Key("what").String(report.why_not_text);
  json.Key("over_bytes").Fixed(report.why_not->over_bytes, 0);
  json.Key("ways").BeginArray();
  for (const std::string& way : report.why_not->ways) {
    json.String(way);
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace

std::string PlanJson(const PlanReport& report, std::string_view version) {
  JsonWriter json;
  const PlanRow& best = report.best_row();
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("workload").String(report.subject.workload);
  json.Key("platform").String(report.subject.platform);
  json.Key("gpu").String(report.subject.gpu);
  json.Key("num_gpus").Int(report.subject.num_gpus);
  json.Key("nodes").Int(report.subject.nodes);
  json.Key("batch_per_gpu").Int(report.subject.batch_per_gpu);
  json.Key("precision").String(report.subject.precision);
  json.Key("sharder").String(best.sharder);
  json.Key("step_time_us").Fixed(best.step_us.value_or(0), kMicroDecimals);
  json.Key("fits").Bool(best.fits);
  WriteWhyNot(report, json);
  json.Key("hbm_capacity_bytes").Fixed(report.hbm_capacity_bytes, 0);
  json.Key("evaluations").Int(report.evaluations);
  json.Key("simulations").Int(report.simulations);
  json.Key("stopped").Bool(report.stopped);
  json.Key("sharders").BeginArray();
  for (const PlanRow& row : report.rows) {
    WriteRow(row, json);
  }
  json.EndArray();
  json.Key("ranks").BeginArray();
  for (const PlanRank& rank : report.ranks) {
    WriteRank(rank, json);
  }
  json.EndArray();
  json.Key("tables").BeginArray();
  for (const PlanTable& table : report.tables) {
    WriteTable(table, json);
  }
  json.EndArray();
  json.Key("notes").BeginArray();
  for (const std::string& note : report.notes) {
    json.String(note);
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace stepcast::report
