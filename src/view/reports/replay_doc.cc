#include "view/reports/replay_doc.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/units.h"
#include "engine/explain/path_parts.h"
#include "ir/names.h"
#include "view/reports/attribution_blocks.h"
#include "view/reports/breakdown.h"
#include "view/reports/path_summary.h"
#include "view/reports/step_blocks.h"
#include "view/reports/text_parts.h"
#include "view/timelines/timeline.h"

namespace stepcast::view {
namespace {

using engine::RankAccount;
using engine::ReplayedJob;
using engine::ReplayedRank;
using engine::ReplayedStep;

// Rows that text shows.
constexpr size_t kReplayedRows = 24;
constexpr size_t kReplayedRankRows = 16;
constexpr size_t kCollectiveRows = 12;
constexpr size_t kHopRows = 12;
constexpr size_t kUnexplainedRows = 5;
constexpr size_t kSteadyRows = 8;
// Families of kernels with a column of their own.
constexpr size_t kFamilyColumns = 5;

Value NumberOf(const std::optional<int64_t>& step) {
  return step ? Value(*step) : Value(nullptr);
}

// "step 12", or "the step" if it has no number.
std::string NameOfStep(const std::optional<int64_t>& step) {
  return step ? fmt::format("step {}", *step) : "the step";
}

std::string ReplayTitle(const ReplayedJob& job, const std::string& name) {
  const std::filesystem::path path(name);
  std::string text = fmt::format(
      "{} of {}", NameOfStep(job.step),
      (path.has_filename() ? path : path.parent_path()).filename().string());
  if (job.steps.size() > 1) {
    text += fmt::format(", of {} replayed",
                        CountText(std::ssize(job.steps), "step"));
  }
  if (job.replay.result.accounts.size() > 1) {
    text += fmt::format(", {} ranks", job.replay.result.accounts.size());
  }
  return text;
}

std::vector<Column> ReplayedColumns() {
  return {{.key = "step", .label = "step"},
          {.key = "measured_us", .label = "measured"},
          {.key = "simulated_us", .label = "simulated"},
          {.key = "error_pct", .label = "error", .decimals = 2, .sign = true},
          {.key = "gpu_active_measured_us", .label = "GPU active"},
          {.key = "gpu_active_simulated_us", .label = "GPU active simulated"},
          {.key = "unexplained_us", .label = "unexplained", .unit = "us"}};
}

std::vector<Value> ReplayedRow(const std::optional<int64_t>& step,
                               const ReplayedRank& rank) {
  return {NumberOf(step),           rank.measured,
          rank.simulated,           Percent{kPercent * rank.error()},
          rank.gpu_active_measured, rank.gpu_active_simulated,
          rank.unexplained};
}

// For people: a row for each rank of each step.
Table ReplayedTable(const ReplayedJob& job) {
  Table table{.title = "measured and simulated",
              .about =
                  "How far the simulation is from the trace says how much "
                  "of the step it explains.",
              .columns = ReplayedColumns(),
              .limit = kReplayedRows,
              .keep_by = 4};
  table.columns.insert(table.columns.begin(), {.label = "rank"});
  for (const ReplayedStep& step : job.steps) {
    for (const ReplayedRank& rank : step.ranks) {
      std::vector<Value> row = ReplayedRow(step.step, rank);
      if (!step.step) {
        row.front() = Value();
      }
      row.insert(row.begin(), rank.rank);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

// For programs: an object for each rank with its steps.
Table RankSteps(const ReplayedJob& job) {
  Table table{.key = "ranks",
              .columns = {{.key = "rank"},
                          {.key = "steps"},
                          {.key = "step_time_us"},
                          {.key = "gpu_active_us"},
                          {.key = "kernel_time_us"},
                          {.key = "host_busy_us"},
                          {.key = "exposed_comm_us"},
                          {.key = "wait_us"}},
              .readers = Readers::kPrograms};
  const auto column = [&](const std::string& key) {
    const auto found = std::ranges::find(table.columns, key, &Column::key);
    const auto index = static_cast<size_t>(found - table.columns.begin());
    if (found == table.columns.end()) {
      table.columns.push_back({.key = key});
    }
    return index;
  };
  for (size_t i = 0; i < job.replay.result.accounts.size(); ++i) {
    const RankAccount& account = job.replay.result.accounts[i];
    Table steps{.columns = ReplayedColumns()};
    for (const ReplayedStep& step : job.steps) {
      steps.rows.push_back(ReplayedRow(step.step, step.ranks[i]));
    }
    std::vector<Value> row = {account.rank,
                              std::make_shared<const Table>(std::move(steps)),
                              account.step,
                              account.gpu_active,
                              account.kernel_time,
                              account.host_busy,
                              account.communication_exposed,
                              account.collective_wait};
    table.rows.push_back(std::move(row));
  }
  // All ranks' columns of one object together.
  for (const auto& [prefix, times_of] :
       {std::pair("breakdown_us.", &BreakdownOf),
        std::pair("overheads_us.", &OverheadsOf)}) {
    for (size_t i = 0; i < table.rows.size(); ++i) {
      for (const auto& [name, time] : times_of(job.replay.result.accounts[i])) {
        const size_t index = column(prefix + name);
        table.rows[i].resize(std::max(table.rows[i].size(), index + 1));
        table.rows[i][index] = time;
      }
    }
  }
  return table;
}

// The families of kernels that took most on all ranks.
std::vector<std::string> LargestFamilies(
    const std::vector<RankAccount>& accounts) {
  std::map<std::string, Duration> sums;
  for (const RankAccount& account : accounts) {
    for (const auto& [family, time] : KernelTimes(account)) {
      sums[family] += time;
    }
  }
  std::vector<std::pair<Duration, std::string>> sorted;
  sorted.reserve(sums.size());
  for (const auto& [family, time] : sums) {
    sorted.emplace_back(-time, family);
  }
  std::ranges::sort(sorted);
  std::vector<std::string> families;
  for (size_t i = 0; i < sorted.size() && i < kFamilyColumns; ++i) {
    families.push_back(sorted[i].second);
  }
  return families;
}

// Where the time of each rank went. The same columns for all of them: the
// families that took most, the rest, and everything that is not a kernel.
Table RankTimes(const std::vector<RankAccount>& accounts) {
  Table table{.title = "where the time of each rank went",
              .about =
                  "A row sums to its step. Copies and collectives: what "
                  "no kernel hides.",
              .columns = {{.label = "rank"}, {.label = "step"}},
              .limit = kReplayedRankRows};
  constexpr std::string_view kOthers = "other kernels";
  const std::map<std::string, std::string> short_names = {
      {"memcpy_exposed", "copies"},
      {"communication_exposed", "collectives"},
      {"idle wait_for_rank", "idle ranks"}};
  std::vector<std::string> names = LargestFamilies(accounts);
  names.emplace_back(kOthers);
  for (const auto& [name, time] : PartsOf(RankAccount())) {
    names.push_back(name);
  }
  std::map<std::string, Duration> sums;
  std::vector<std::map<std::string, Duration>> times(accounts.size());
  for (size_t i = 0; i < accounts.size(); ++i) {
    for (const auto& [name, time] : PartsOf(accounts[i])) {
      const bool known = std::ranges::find(names, name) != names.end();
      const std::string column(known ? std::string_view(name) : kOthers);
      times[i][column] += time;
      sums[column] += time;
    }
  }
  std::erase_if(
      names, [&](const std::string& name) { return sums[name] == Duration{}; });
  for (const std::string& name : names) {
    const auto found = short_names.find(name);
    table.columns.push_back(
        {.label = found == short_names.end() ? name : found->second});
  }
  for (size_t i = 0; i < accounts.size(); ++i) {
    std::vector<Value> row = {accounts[i].rank, accounts[i].step};
    for (const std::string& name : names) {
      row.emplace_back(times[i][name]);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table CollectiveTable(const ReplayedJob& job, const engine::Traffic& traffic) {
  std::map<ir::CollectiveId, const engine::CollectiveRate*> rates;
  for (const engine::CollectiveRate& rate : traffic.collectives) {
    rates[rate.id] = &rate;
  }
  Table table{
      .key = "collectives",
      .title = "who waited for whom",
      .about =
          "Own: once all ranks are there. Start skew: how long the first "
          "rank waits. Bus: what each link carries in that time, as "
          "nccl-tests counts.",
      .columns = {{.key = "index", .label = "#"},
                  {.key = "kind", .label = "kind"},
                  {.key = "start_us"},
                  {.key = "own_us", .label = "own", .unit = "us"},
                  {.key = "bytes"},
                  {.label = "buffer"},
                  {.key = "algorithm_gbs"},
                  {.key = "bus_gbs", .label = "bus GB/s", .decimals = 1},
                  {.key = "start_skew_us", .label = "start skew", .unit = "us"},
                  {.key = "last_rank", .label = "last rank"},
                  {.key = "ranks"},
                  {.key = "wait_us"},
                  {.key = "blame", .label = "why the last rank came late"}},
      .limit = kCollectiveRows,
      .keep_by = 8};
  for (size_t i = 0; i < job.replay.collectives.size(); ++i) {
    const engine::CollectiveBlame& item = job.replay.collectives[i];
    const auto found = rates.find(item.id);
    const CollectiveCells cells =
        CellsOf(found == rates.end() ? nullptr : found->second);
    table.rows.push_back({static_cast<int64_t>(i),
                          std::string(ir::Name(item.kind)), item.start,
                          item.own, cells.bytes, cells.buffer,
                          cells.algorithm_gbs, cells.bus_gbs, item.start_skew,
                          item.last_rank, item.ranks, item.waits, item.blame});
  }
  return table;
}

// Shares of a path for programs.
Table ShareRows(const std::vector<PathShare>& shares) {
  Table table{
      .columns = {
          {.key = "kind"}, {.key = "what"}, {.key = "us"}, {.key = "times"}}};
  for (const PathShare& share : shares) {
    table.rows.push_back({std::string(Name(share.kind)), share.what, share.time,
                          static_cast<int64_t>(share.times)});
  }
  return table;
}

// What most of a hop was, for people.
std::string HopText(const PathHop& hop) {
  std::vector<std::string> parts;
  for (const PathShare& share : hop.most) {
    constexpr int kTenth = 10;
    if (share.time * kTenth >= hop.end - hop.begin) {
      parts.push_back(
          fmt::format("{} {}", MillisecondsText(share.time), share.what));
    }
  }
  return Join(parts, ", ");
}

Table HopTable(const ReplayedJob& job, const PathSummary& path) {
  std::map<ir::CollectiveId, int64_t> indices;
  for (size_t i = 0; i < job.replay.collectives.size(); ++i) {
    indices[job.replay.collectives[i].id] = static_cast<int64_t>(i);
  }
  Table table{
      .key = "critical_path.hops",
      .title = "ranks on the critical path",
      .about =
          "The path stays on a rank until a collective in which "
          "others waited for it.",
      .columns = {{.key = "rank", .label = "rank"},
                  {.key = "at_us", .label = "at"},
                  {.key = "us", .label = "time"}},
      .limit = kHopRows,
      .readers = path.hops.size() > 1 ? Readers::kAll : Readers::kPrograms};
  for (size_t i = 0; i < engine::kPathKindCount; ++i) {
    table.columns.push_back(
        {.key = fmt::format("kinds_us.{}",
                            Name(static_cast<engine::PathKind>(i)))});
  }
  table.columns.push_back({.key = "most"});
  table.columns.push_back({.label = "mostly", .width = kNameWidth});
  table.columns.push_back({.key = "collective", .label = "up to collective"});
  for (const PathHop& hop : path.hops) {
    const auto found =
        hop.collective ? indices.find(*hop.collective) : indices.end();
    std::vector<Value> row = {hop.rank, hop.begin, hop.end - hop.begin};
    row.insert(row.end(), hop.kinds.begin(), hop.kinds.end());
    row.emplace_back(std::make_shared<const Table>(ShareRows(hop.most)));
    row.emplace_back(HopText(hop));
    row.push_back(found == indices.end() ? Value(nullptr)
                                         : Value(found->second));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void AddPath(const ReplayedJob& job, const PathSummary& summary,
             int64_t path_rank, Doc& doc) {
  Facts facts = {{{.key = "critical_path.to_rank"}, path_rank},
                 {{.key = "critical_path.us"}, summary.length}};
  for (size_t i = 0; i < summary.kinds.size(); ++i) {
    facts.push_back(
        {{.key = fmt::format("critical_path.kinds_us.{}",
                             Name(static_cast<engine::PathKind>(i)))},
         summary.kinds[i]});
  }
  doc.blocks.emplace_back(std::move(facts));
  doc.blocks.emplace_back(HopTable(job, summary));
  Table path = PathTable(summary);
  path.key = "critical_path.longest";
  path.columns[1].key = "what";
  path.caption =
      fmt::format("{} ms to the end of rank {}: {}",
                  MillisecondsText(summary.length), path_rank, path.caption);
  doc.blocks.emplace_back(std::move(path));
}

Table UnexplainedTable(const ReplayedJob& job) {
  Table table{
      .key = "unexplained",
      .title = "unexplained",
      .about = "Time that nothing in the trace gives a cause for.",
      .columns = {{.key = "what", .label = "what", .width = 2 * kNameWidth},
                  {.key = "rank", .label = "rank"},
                  {.key = "at_us", .label = "at"},
                  {.key = "us", .label = "time", .unit = "us"}},
      .limit = kUnexplainedRows,
      .none = "nothing"};
  for (const engine::Unexplained& item : job.replay.unexplained) {
    table.rows.push_back({item.what, item.rank, item.at, item.time});
  }
  return table;
}

Table SkippedTable(const ReplayedJob& job) {
  Table table{.key = "skipped",
              .title = "left out",
              .columns = {{.key = "step", .label = "step"},
                          {.key = "why", .label = "why"}}};
  for (const engine::UnreplayedStep& skipped : job.skipped) {
    table.rows.push_back({NumberOf(skipped.step), skipped.why});
  }
  return table;
}

Facts SummaryFacts(const ReplayedJob& job) {
  return {{{.key = "unplaced",
            .label = job.replay.result.plan.unplaced > 0 ? "left out" : ""},
           static_cast<int64_t>(job.replay.result.plan.unplaced),
           "ops or calls without a time"},
          {{.key = "overlaps"}, static_cast<int64_t>(job.replay.overlaps)},
          {{.key = "summary.n"}, static_cast<int64_t>(job.errors.n)},
          {{.key = "summary.gmae_pct"}, Percent{job.errors.gmae_pct}},
          {{.key = "summary.max_abs_pct"}, Percent{job.max_abs_pct}},
          {{.key = "summary.max_unexplained_us"}, job.max_unexplained}};
}

// The step that would repeat, and what the recording says of that.
Table SteadyTable(const ReplayedJob& job) {
  Table table{
      .key = "steady.steps",
      .title = "the step that repeats",
      .about =
          "Steady: iterations like this one, back to back, until the time "
          "between their ends settles. Distance: from the end of the step "
          "before, with all that it had launched, to the end of this one.",
      .columns = {{.key = "step", .label = "step"},
                  {.key = "recorded_us", .label = "host's step"},
                  {.key = "distance_us", .label = "recorded distance"},
                  {.key = "steady_us", .label = "steady"}},
      .limit = kSteadyRows,
      .readers = job.steps.size() > 1 ? Readers::kAll : Readers::kPrograms};
  for (const ReplayedStep& step : job.steps) {
    table.rows.push_back(
        {NumberOf(step.step), step.measured(),
         step.distance ? Value(*step.distance) : Value(nullptr), step.steady});
  }
  return table;
}

// How far the device ran after the host when the step began and when it ended.
std::string LeadText(const std::vector<engine::HostLead>& leads) {
  Duration start{};
  Duration end{};
  for (const engine::HostLead& lead : leads) {
    start = std::max(start, lead.at_start);
    end = std::max(end, lead.at_end);
  }
  return fmt::format(
      "the device was {} ms after the host when the recorded "
      "step began, {} ms when it ended",
      MillisecondsText(start), MillisecondsText(end));
}

Facts SteadyFacts(const ReplayedJob& job) {
  Facts facts = {{{.key = "steady_us", .label = "steady step"},
                  job.steady.step,
                  LeadText(job.leads)}};
  if (job.distance) {
    facts.push_back({{.key = "distance_us", .label = "recorded distance"},
                     *job.distance,
                     "median between the ends of steps"});
  }
  Table leads{.columns = {{.key = "rank"},
                          {.key = "at_start_us"},
                          {.key = "at_end_us"}}};
  for (const engine::HostLead& lead : job.leads) {
    leads.rows.push_back({lead.rank, lead.at_start, lead.at_end});
  }
  facts.push_back({{.key = "steady.device_after_host"},
                   std::make_shared<const Table>(std::move(leads))});
  return facts;
}

}  // namespace

Doc ReplayDoc(const ReplayedJob& job, const engine::StepStatistics& statistics,
              const std::string& name, const RatesOf& rates) {
  const engine::StepResult& result = job.replay.result;
  const RankAccount slowest = result.slowest_account();
  const bool several = result.accounts.size() > 1;
  const std::vector<engine::PathPart> parts = engine::DescribePath(result);
  const PathSummary path = SummarizePath(result, parts);
  const engine::Traffic traffic = engine::MeasureTraffic(result);
  const int64_t path_rank =
      parts.empty() ? 0 : result.graph->data().ranks[parts.back().rank].number;
  Doc doc;
  doc.title = ReplayTitle(job, name);
  engine::StepLimits limits = engine::FindLimits(job.steady);
  if (rates.with.models != nullptr && rates.with.same_gpu) {
    limits.kernels = engine::BoundsOf(
        engine::RateKernels(job.steady, rates.with), *rates.with.models);
  }
  doc.verdict = fmt::format(
      "{} ms per step, {}; simulated within {:.2f} % of measured",
      MillisecondsText(job.steady.step),
      Verdict(limits, job.steady.slowest_account()), job.max_abs_pct);
  doc.blocks.emplace_back(Facts{{{.key = "step"}, NumberOf(job.step)}});
  doc.blocks.emplace_back(SteadyFacts(job));
  doc.blocks.emplace_back(SteadyTable(job));
  AddLimits(limits, job.steady.step, /*server=*/false, doc);
  doc.blocks.emplace_back(RankSteps(job));
  doc.blocks.emplace_back(ReplayedTable(job));
  AddStepStatistics(statistics, doc);
  doc.blocks.emplace_back(Picture{.title = "where the time went",
                                  .about = std::string(kBarsText),
                                  .drawing = AccountBars(result.accounts)});
  Table where = PartsTable(
      slowest,
      several ? fmt::format("rank {}, the slowest", slowest.rank) : "");
  where.title = "where the time went";
  doc.blocks.emplace_back(std::move(where));
  if (several) {
    doc.blocks.emplace_back(RankTimes(result.accounts));
  }
  AddAttribution(result, doc);
  doc.blocks.emplace_back(Picture{
      .title = "timeline",
      .about = fmt::format("As simulated from the measured durations. {}",
                           kTimelineText),
      .drawing = MakeTimelines([&result] {
        return std::vector<NamedTimeline>{{.timeline = StepTimeline(result)}};
      })});
  doc.blocks.emplace_back(CollectiveTable(job, traffic));
  AddPath(job, path, path_rank, doc);
  doc.blocks.emplace_back(KernelTable(result));
  AddRates(job.steady, engine::MeasureTraffic(job.steady), rates,
           RateTimes::kRecorded, doc);
  doc.blocks.emplace_back(UnexplainedTable(job));
  doc.blocks.emplace_back(SkippedTable(job));
  doc.blocks.emplace_back(SummaryFacts(job));
  doc.csv = ReplayedTable(job);
  doc.csv.columns.front().key = "rank";
  return doc;
}

}  // namespace stepcast::view
