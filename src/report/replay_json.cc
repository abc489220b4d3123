#include "report/replay_json.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/json_write.h"
#include "base/units.h"
#include "ir/names.h"
#include "report/breakdown.h"
#include "report/json_parts.h"
#include "report/path_summary.h"

namespace stepcast::report {
namespace {

constexpr int kPercentDecimals = 4;

void WriteStepNumber(JsonWriter& json, const std::optional<int64_t>& step) {
  json.Key("step");
  step ? json.Int(*step) : json.Null();
}

void WriteStep(JsonWriter& json, const std::optional<int64_t>& step,
               const engine::ReplayedRank& rank) {
  json.BeginObject();
  WriteStepNumber(json, step);
  WriteTime(json, "measured_us", rank.measured);
  WriteTime(json, "simulated_us", rank.simulated);
  json.Key("error_pct").Fixed(kPercent * rank.error(), kPercentDecimals);
  WriteTime(json, "gpu_active_measured_us", rank.gpu_active_measured);
  WriteTime(json, "gpu_active_simulated_us", rank.gpu_active_simulated);
  WriteTime(json, "unexplained_us", rank.unexplained);
  json.EndObject();
}

// Of the step that is told in full.
void WriteAccount(JsonWriter& json, const engine::RankAccount& account) {
  WriteTime(json, "step_time_us", account.step);
  WriteTime(json, "gpu_active_us", account.gpu_active);
  WriteTime(json, "kernel_time_us", account.kernel_time);
  WriteTime(json, "host_busy_us", account.host_busy);
  WriteTime(json, "exposed_comm_us", account.communication_exposed);
  WriteTime(json, "wait_us", account.collective_wait);
  json.Key("breakdown_us");
  WriteBreakdown(json, account);
  json.Key("overheads_us");
  WriteOverheads(json, account);
}

void WriteRanks(JsonWriter& json, const ReplayReport& report) {
  json.Key("ranks").BeginArray();
  const std::vector<engine::RankAccount>& accounts = report.details.accounts;
  for (size_t i = 0; i < accounts.size(); ++i) {
    json.BeginObject();
    json.Key("rank").Int(accounts[i].rank);
    json.Key("steps").BeginArray();
    for (const ReplayedStep& step : report.steps) {
      WriteStep(json, step.step, step.ranks[i]);
    }
    json.EndArray();
    WriteAccount(json, accounts[i]);
    json.EndObject();
  }
  json.EndArray();
}

void WriteCollectives(JsonWriter& json, const StepDetails& details) {
  json.Key("collectives").BeginArray();
  for (size_t i = 0; i < details.collectives.size(); ++i) {
    const engine::CollectiveBlame& item = details.collectives[i];
    json.BeginObject();
    json.Key("index").Int(static_cast<int64_t>(i));
    json.Key("kind").String(ir::Name(item.kind));
    WriteTime(json, "start_us", item.start);
    WriteTime(json, "own_us", item.own);
    WriteTime(json, "start_skew_us", item.start_skew);
    json.Key("last_rank").Int(item.last_rank);
    json.Key("ranks").BeginArray();
    for (const int64_t rank : item.ranks) {
      json.Int(rank);
    }
    json.EndArray();
    json.Key("wait_us").BeginArray();
    for (const Duration wait : item.waits) {
      json.Fixed(ToMicroseconds(wait), kTimeDecimals);
    }
    json.EndArray();
    json.Key("blame").String(item.blame);
    json.EndObject();
  }
  json.EndArray();
}

void WriteShares(JsonWriter& json, const std::vector<PathShare>& shares) {
  json.BeginArray();
  for (const PathShare& share : shares) {
    json.BeginObject();
    json.Key("kind").String(Name(share.kind));
    json.Key("what").String(share.what);
    WriteTime(json, "us", share.time);
    json.Key("times").Int(static_cast<int64_t>(share.times));
    json.EndObject();
  }
  json.EndArray();
}

void WritePath(JsonWriter& json, const StepDetails& details) {
  std::map<ir::CollectiveId, int64_t> indices;
  for (size_t i = 0; i < details.collectives.size(); ++i) {
    indices[details.collectives[i].id] = static_cast<int64_t>(i);
  }
  json.Key("critical_path").BeginObject();
  json.Key("to_rank").Int(details.path_rank);
  WriteTime(json, "us", details.path.length);
  json.Key("kinds_us");
  WritePathKinds(json, details.path.kinds);
  json.Key("hops").BeginArray();
  for (const PathHop& hop : details.path.hops) {
    json.BeginObject();
    json.Key("rank").Int(hop.rank);
    WriteTime(json, "at_us", hop.begin);
    WriteTime(json, "us", hop.end - hop.begin);
    json.Key("kinds_us");
    WritePathKinds(json, hop.kinds);
    json.Key("most");
    WriteShares(json, hop.most);
    json.Key("collective");
    const auto found =
        hop.collective ? indices.find(*hop.collective) : indices.end();
    found == indices.end() ? json.Null() : json.Int(found->second);
    json.EndObject();
  }
  json.EndArray();
  json.Key("longest");
  WriteShares(json, details.path.longest);
  json.EndObject();
}

void WriteUnexplained(JsonWriter& json, const StepDetails& details) {
  json.Key("unexplained").BeginArray();
  for (const engine::Unexplained& item : details.unexplained) {
    json.BeginObject();
    json.Key("what").String(item.what);
    json.Key("rank").Int(item.rank);
    WriteTime(json, "at_us", item.at);
    WriteTime(json, "us", item.time);
    json.EndObject();
  }
  json.EndArray();
  json.Key("unplaced").Int(static_cast<int64_t>(details.unplaced));
  json.Key("overlaps").Int(static_cast<int64_t>(details.overlaps));
}

}  // namespace

std::string ReplayJson(const ReplayReport& report, std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  WriteStepNumber(json, report.details.step);
  WriteRanks(json, report);
  WriteCollectives(json, report.details);
  WritePath(json, report.details);
  WriteUnexplained(json, report.details);
  json.Key("skipped").BeginArray();
  for (const UnreplayedStep& skipped : report.skipped) {
    json.BeginObject();
    WriteStepNumber(json, skipped.step);
    json.Key("why").String(skipped.why);
    json.EndObject();
  }
  json.EndArray();
  json.Key("summary").BeginObject();
  json.Key("n").Int(static_cast<int64_t>(report.errors.n));
  json.Key("gmae_pct").Fixed(report.errors.gmae_pct, kPercentDecimals);
  json.Key("max_abs_pct").Fixed(report.max_abs_pct, kPercentDecimals);
  WriteTime(json, "max_unexplained_us", report.max_unexplained);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

}  // namespace stepcast::report
