// A study as JSON.
#include <cmath>
#include <map>

#include "base/json_write.h"
#include "base/units.h"
#include "explore/pareto.h"
#include "hw/cluster.h"
#include "report/explored.h"
#include "report/json_parts.h"
#include "scenario/resolve.h"
#include "workload/settings.h"

namespace stepcast::report {
namespace {

using explore::CellReader;
using explore::Explored;
using explore::Number;
using explore::Row;

constexpr int kFineDecimals = 6;

void Write(JsonWriter& json, std::string_view key, double value, int decimals) {
  if (std::isnan(value)) {
    json.Key(key).Null();
  } else {
    json.Key(key).Fixed(value, decimals);
  }
}

void WriteSettings(JsonWriter& json, const Explored& explored,
                   const CellReader& cells) {
  json.Key("settings").BeginObject();
  for (const std::string& column : explore::ColumnNames(explored.study)) {
    const bool is_setting =
        column == "point" || explore::FindKind(column).has_value();
    const explore::Cell cell = cells.at(column);
    if (!is_setting || cell.text.empty()) {
      continue;
    }
    if (cell.number) {
      json.Key(column).Double(*cell.number);
    } else {
      json.Key(column).String(cell.text);
    }
  }
  json.EndObject();
}

// What is predicted in each row, by the keys of `predict`.
class SubjectWriter {
 public:
  void Write(JsonWriter& json, std::span<const explore::Setting> settings) {
    const auto asked = explore::ScenarioOf(settings);
    const auto job = asked
                         ? resolver_.Resolve(*asked)
                         : Result<scenario::Job>(tl::unexpected(asked.error()));
    if (!job) {
      return;
    }
    const engine::Request& request = job->request;
    json.Key("workload").String(request.model.name);
    json.Key("platform").String(request.platform);
    json.Key("gpu").String(GpuOf(request));
    json.Key("server").String(job->servers.name);
    json.Key("num_gpus").Int(request.gpus);
    json.Key("batch_per_gpu")
        .Int(request.settings.batch > 0 ? request.settings.batch
                                        : request.model.batch);
    json.Key("precision").String(workload::Name(request.settings.precision));
    json.Key("mode").String(workload::Name(request.settings.mode));
  }

 private:
  std::string GpuOf(const engine::Request& request) {
    if (!request.gpu.empty() || request.platform.empty()) {
      return request.gpu;
    }
    const auto found = gpus_.find(request.platform);
    if (found != gpus_.end()) {
      return found->second;
    }
    const auto platform = hw::FindPlatform(request.platform);
    return gpus_
        .emplace(request.platform, platform ? platform->gpu : std::string())
        .first->second;
  }

  scenario::Resolver resolver_;
  std::map<std::string, std::string, std::less<>> gpus_;  // By platform.
};

// The keys are those of `predict` where it has them.
void WriteTimes(JsonWriter& json, const Row& row) {
  const double step = row.at(Number::kStepUs);
  const auto time = [&](std::string_view key, Number number) {
    Write(json, key, row.at(number), kTimeDecimals);
  };
  time("step_time_us", Number::kStepUs);
  Write(json, "samples_per_s", row.at(Number::kSamplesPerS), 1);
  Write(json, "gpu_active_us", step * row.at(Number::kGpuActive),
        kTimeDecimals);
  Write(json, "gpu_idle_us", step * (1 - row.at(Number::kGpuActive)),
        kTimeDecimals);
  Write(json, "host_busy_us", step * row.at(Number::kHostBusy), kTimeDecimals);
  json.Key("interval_us").BeginObject();
  time("p10", Number::kP10Us);
  time("p50", Number::kP50Us);
  time("p90", Number::kP90Us);
  json.EndObject();
  json.Key("breakdown_us").BeginObject();
  time("gemm", Number::kGemmUs);
  time("embedding", Number::kEmbeddingUs);
  time("interaction", Number::kInteractionUs);
  time("elementwise", Number::kElementwiseUs);
  time("optimizer", Number::kOptimizerUs);
  time("other", Number::kOtherUs);
  time("memcpy_exposed", Number::kCopiesUs);
  time("communication_exposed", Number::kCommunicationUs);
  json.Key("idle").BeginObject();
  time("host", Number::kIdleHostUs);
  time("launch", Number::kIdleLaunchUs);
  time("sync", Number::kIdleSyncUs);
  time("wait_for_rank", Number::kIdleWaitUs);
  json.EndObject().EndObject();
}

void WriteMachine(JsonWriter& json, const Row& row) {
  json.Key("memory").BeginObject();
  const auto bytes = [&](std::string_view key, Number number) {
    Write(json, key, row.at(number) * kGiga, 0);
  };
  bytes("hbm_bytes", Number::kHbmGb);
  bytes("hbm_capacity_bytes", Number::kHbmCapacityGb);
  bytes("host_bytes", Number::kHostGb);
  bytes("host_capacity_bytes", Number::kHostCapacityGb);
  bytes("servers_bytes", Number::kServersGb);
  bytes("servers_capacity_bytes", Number::kServersCapacityGb);
  json.Key("fits").Bool(row.fits());
  json.EndObject();
  json.Key("utilisation").BeginObject();
  for (auto i = static_cast<size_t>(Number::kTrainerCpu);
       i <= static_cast<size_t>(Number::kDenseNetwork); ++i) {
    Write(json, explore::NumberColumns()[i].name, row.numbers[i],
          kShareDecimals);
  }
  json.EndObject();
  Write(json, "power_w", row.at(Number::kPowerW), 1);
  Write(json, "samples_per_joule", row.at(Number::kSamplesPerJoule),
        kFineDecimals);
  Write(json, "samples_per_dollar", row.at(Number::kSamplesPerDollar),
        kFineDecimals);
}

void WriteTornados(JsonWriter& json,
                   const std::vector<explore::Tornado>& tornados) {
  json.Key("sensitivity").BeginArray();
  for (const explore::Tornado& tornado : tornados) {
    json.BeginObject();
    json.Key("name").String(tornado.name);
    json.Key("metric").String(tornado.metric);
    json.Key("ratio").Bool(tornado.is_ratio);
    Write(json, "value", tornado.usual, kFineDecimals);
    json.Key("inputs").BeginArray();
    for (const explore::TornadoBar& bar : tornado.bars) {
      json.BeginObject();
      json.Key("setting").String(bar.setting);
      json.Key("low").String(bar.low);
      json.Key("high").String(bar.high);
      Write(json, "at_low", bar.at_low, kFineDecimals);
      Write(json, "at_high", bar.at_high, kFineDecimals);
      json.Key("why").String(bar.why);
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

void WritePareto(JsonWriter& json, const Explored& explored) {
  const auto columns = explore::FindParetoColumns(explored);
  if (!columns) {
    return;
  }
  const auto name = [](Number number) {
    return explore::NumberColumns()[static_cast<size_t>(number)].name;
  };
  json.Key("pareto").BeginObject();
  json.Key("more").String(name(columns->more));
  json.Key("less").String(name(columns->less));
  json.Key("rows").BeginArray();
  for (const int64_t row : explore::ParetoFront(explored.rows, *columns)) {
    json.Int(row);
  }
  json.EndArray().EndObject();
}

}  // namespace

std::string ExploredJson(const Explored& explored,
                         std::span<const int64_t> shown,
                         const std::vector<explore::Tornado>& tornados,
                         std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("study").String(explored.study.name);
  json.Key("title").String(explored.study.title);
  json.Key("row_count").Int(std::ssize(explored.rows));
  json.Key("rows").BeginArray();
  CellReader cells(explored);
  SubjectWriter subject;
  for (const int64_t number : shown) {
    cells.Seek(number);
    const Row& row = cells.row();
    json.BeginObject();
    json.Key("row").Int(number);
    subject.Write(json, cells.settings());
    WriteSettings(json, explored, cells);
    WriteTimes(json, row);
    WriteMachine(json, row);
    json.Key("bound_by").String(row.bound_by);
    json.Key("note").String(row.note);
    json.EndObject();
  }
  json.EndArray();
  WritePareto(json, explored);
  WriteTornados(json, tornados);
  json.EndObject();
  return json.Take();
}

}  // namespace stepcast::report
