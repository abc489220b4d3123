// The report of a predicted step.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/text_table.h"
#include "base/units.h"
#include "engine/explain/path_parts.h"
#include "view/reports/breakdown.h"
#include "view/reports/prediction.h"
#include "view/reports/rates_blocks.h"
#include "view/reports/step_blocks.h"
#include "view/reports/text_parts.h"
#include "view/timelines/timeline.h"

namespace stepcast::view {
namespace {

void FillOverheads(const timeline::OverheadCoverage& coverage,
                   PredictionReport& report) {
  Duration total{};
  for (const auto& share : coverage.by_source) {
    total += share.time;
  }
  for (size_t i = 0; i < coverage.by_source.size(); ++i) {
    report.overhead_coverage[i] =
        total.count() == 0
            ? 0
            : static_cast<double>(coverage.by_source[i].time.count()) /
                  static_cast<double>(total.count());
  }
  for (const auto& [name, share] : coverage.not_exact) {
    report.estimated_overheads.emplace_back(name, share.time);
  }
  std::ranges::stable_sort(
      report.estimated_overheads,
      [](const auto& a, const auto& b) { return a.second > b.second; });
}

}  // namespace

void PredictionReport::UseStep(Duration time) {
  step = time;
  samples_per_s = 0;
  if (fits() && subject.batch_per_gpu > 0 && step > Duration{}) {
    const double seconds = static_cast<double>(step.count()) / 1e9;
    samples_per_s =
        static_cast<double>(subject.batch_per_gpu * subject.num_gpus) / seconds;
  }
}

PredictionReport ReportPrediction(const engine::StepResult& result,
                                  PredictionSubject subject,
                                  const sim::TaskTimes* times) {
  PredictionReport report;
  report.subject = std::move(subject);
  report.step = result.step;
  report.interval = result.interval;
  report.ranks = result.accounts;
  report.slowest = result.slowest_account();
  report.critical_path = SummarizePath(result, engine::PathInStep(result));
  report.limits = engine::FindLimits(result, times);
  report.coverage = result.activities.coverage;
  FillOverheads(result.overheads, report);
  report.UseStep(result.step);
  if (result.plan.unplaced > 0) {
    report.notes.push_back(fmt::format(
        "ops and calls without a time are left out: {}", result.plan.unplaced));
  }
  for (const ir::Rank& rank : result.graph->data().ranks) {
    if (rank.step) {
      report.measured.push_back(
          {.rank = rank.number, .step = rank.step->duration});
    }
  }
  return report;
}

namespace {

constexpr size_t kPredictedRankRows = 16;

// Parts of the step that have a column each in CSV; the kernels that are left
// share one.
constexpr std::array<std::string_view, 10> kCsvParts = {
    "gemm",           "embedding",
    "elementwise",    "optimizer",
    "memcpy_exposed", "communication_exposed",
    "idle host",      "idle launch",
    "idle sync",      "idle wait_for_rank"};

Bytes WholeBytes(double bytes) {
  return {std::llround(bytes)};
}

Facts SubjectFacts(const PredictionSubject& subject) {
  Facts facts;
  facts.push_back({{.key = "workload"}, subject.workload});
  facts.push_back({{.key = "platform"}, subject.platform});
  facts.push_back({{.key = "gpu"}, subject.server ? "" : subject.gpu});
  if (subject.server) {
    facts.push_back({{.key = "server"}, subject.gpu});
  }
  facts.push_back({{.key = "num_gpus"}, subject.num_gpus});
  facts.push_back({{.key = "batch_per_gpu"}, subject.batch_per_gpu});
  facts.push_back({{.key = "precision"}, subject.precision});
  facts.push_back({{.key = "mode"}, subject.mode});
  facts.push_back({{.key = "impl"}, subject.impl});
  facts.push_back({{.key = "overheads"}, subject.overheads});
  facts.push_back({{.key = "window"}, subject.window});
  return facts;
}

std::string StepNote(const PredictionReport& report) {
  return report.interval.p10 == report.interval.p90
             ? report.subject.window
             : fmt::format("p10 {}, p90 {} ms; {}",
                           MillisecondsText(report.interval.p10),
                           MillisecondsText(report.interval.p90),
                           report.subject.window);
}

Facts PredictedFacts(const PredictionReport& report) {
  const engine::RankAccount& slowest = report.slowest;
  const auto of_step = [&](Duration time) {
    return fmt::format("{} of the step", PercentText(time, slowest.step));
  };
  Facts facts;
  facts.push_back({{.key = "step_time_us", .label = "step time"},
                   report.step,
                   StepNote(report)});
  facts.push_back({{.key = "samples_per_s",
                    .label = report.samples_per_s > 0 ? "throughput" : "",
                    .unit = "samples/s",
                    .decimals = 1},
                   report.samples_per_s});
  if (report.power_w > 0) {
    facts.push_back(
        {{.key = "power_w", .label = "power", .unit = "W", .decimals = 1},
         report.power_w,
         report.fits()
             ? fmt::format("{:.3g} samples/J", report.samples_per_joule)
             : ""});
    facts.push_back({{.key = "samples_per_joule"}, report.samples_per_joule});
  }
  facts.push_back(
      {{.key = "gpu_active_us",
        .label = report.subject.server ? "CPU active" : "GPU active"},
       slowest.gpu_active,
       of_step(slowest.gpu_active)});
  facts.push_back({{.key = "gpu_idle_us"}, slowest.step - slowest.gpu_active});
  facts.push_back({{.key = "host_busy_us", .label = "host busy"},
                   slowest.host_busy,
                   of_step(slowest.host_busy)});
  return facts;
}

// "of 16.00 GB: DOES NOT FIT; context 0.75, ..."
std::string MemoryNote(double capacity, bool fits, const std::string& what) {
  return fmt::format("of {:.2f} GB{}; {}", capacity / kGiga,
                     fits ? "" : ": DOES NOT FIT", what);
}

Facts MemoryFacts(const MemoryUse& memory) {
  std::vector<std::string> parts;
  for (const auto& [name, bytes] : memory.parts) {
    parts.push_back(fmt::format("{} {:.2f}", name, bytes / kGiga));
  }
  Facts facts;
  facts.push_back({{.key = "memory.hbm_bytes", .label = "memory"},
                   WholeBytes(memory.hbm_bytes),
                   MemoryNote(memory.hbm_capacity_bytes, memory.fits_device(),
                              Join(parts, ", "))});
  facts.push_back({{.key = "memory.hbm_capacity_bytes"},
                   WholeBytes(memory.hbm_capacity_bytes)});
  if (memory.host_bytes > 0) {
    facts.push_back({{.key = "memory.host_bytes", .label = "host memory"},
                     WholeBytes(memory.host_bytes),
                     MemoryNote(memory.host_capacity_bytes, memory.fits_host(),
                                "tables of a node")});
    facts.push_back({{.key = "memory.host_capacity_bytes"},
                     WholeBytes(memory.host_capacity_bytes)});
  }
  facts.push_back({{.key = "memory.fits"}, memory.fits()});
  for (const auto& [name, bytes] : memory.parts) {
    facts.push_back({{.key = "memory.parts." + name}, WholeBytes(bytes)});
  }
  return facts;
}

// Facts of the step that only JSON has.
Facts DetailFacts(const PredictionReport& report) {
  Facts facts;
  facts.push_back({{.key = "interval_us.p10"}, report.interval.p10});
  facts.push_back({{.key = "interval_us.p50"}, report.interval.p50});
  facts.push_back({{.key = "interval_us.p90"}, report.interval.p90});
  AddTimes("breakdown_us", BreakdownOf(report.slowest), facts);
  AddTimes("overheads_us", OverheadsOf(report.slowest), facts);
  for (size_t i = 0; i < report.coverage.size(); ++i) {
    facts.push_back(
        {{.key = fmt::format("coverage.{}",
                             cost::Name(static_cast<cost::Origin>(i)))},
         Share{report.coverage[i]}});
  }
  for (size_t i = 0; i < report.overhead_coverage.size(); ++i) {
    facts.push_back(
        {{.key = fmt::format("overhead_coverage.{}",
                             cost::Name(static_cast<cost::OverheadSource>(i)))},
         Share{report.overhead_coverage[i]}});
  }
  return facts;
}

// How much longer than measured; nothing if that is not known.
Value ErrorOf(Duration step, Duration measured) {
  return measured > Duration{} ? ShareOf(step - measured, measured) : Value();
}

Table PredictedRanks(const PredictionReport& report) {
  const bool several = report.ranks.size() > 1 || !report.measured.empty() ||
                       !AlikeText(report.ranks).empty();
  Table table{.key = "ranks",
              .title = "ranks",
              .caption = AlikeText(report.ranks),
              .columns = {{.key = "rank", .label = "rank"},
                          {.key = "alike"},
                          {.key = "step_time_us", .label = "step"},
                          {.key = "gpu_active_us", .label = "GPU active"},
                          {.key = "exposed_comm_us", .label = "exposed comm"},
                          {.key = "wait_us", .label = "waiting"},
                          {.key = "measured_us", .label = "measured"},
                          {.label = "error", .sign = true}},
              .limit = kPredictedRankRows,
              .readers = several ? Readers::kAll : Readers::kPrograms};
  for (const engine::RankAccount& account : report.ranks) {
    const auto measured =
        std::ranges::find(report.measured, account.rank, &MeasuredStep::rank);
    const bool known = measured != report.measured.end();
    table.rows.push_back(
        {account.rank, account.alike, account.step, account.gpu_active,
         account.communication_exposed, account.collective_wait,
         known ? Value(measured->step) : Value(),
         known ? ErrorOf(account.step, measured->step) : Value()});
  }
  return table;
}

Table CsvTable(const PredictionReport& report) {
  const PredictionSubject& subject = report.subject;
  const engine::RankAccount& slowest = report.slowest;
  Table table;
  std::vector<Value>& row = table.rows.emplace_back();
  const auto add = [&](std::string key, Value value) {
    table.columns.push_back({.key = std::move(key), .decimals = 1});
    row.push_back(std::move(value));
  };
  add("workload", subject.workload);
  add("platform", subject.platform);
  add("gpu", subject.gpu);
  add("num_gpus", subject.num_gpus);
  add("batch_per_gpu", subject.batch_per_gpu);
  add("precision", subject.precision);
  add("mode", subject.mode);
  add("impl", subject.impl);
  add("overheads", subject.overheads);
  add("step_time_us", report.step);
  add("p10_us", report.interval.p10);
  add("p90_us", report.interval.p90);
  add("samples_per_s", report.samples_per_s);
  add("gpu_active_us", slowest.gpu_active);
  add("gpu_idle_us", slowest.step - slowest.gpu_active);
  add("host_busy_us", slowest.host_busy);
  std::array<Duration, kCsvParts.size()> times{};
  Duration other{};
  for (const auto& [name, time] : PartsOf(slowest)) {
    const auto found = std::ranges::find(kCsvParts, name);
    (found == kCsvParts.end()
         ? other
         : times[static_cast<size_t>(found - kCsvParts.begin())]) += time;
  }
  for (size_t i = 0; i < kCsvParts.size(); ++i) {
    std::string name(kCsvParts[i]);
    std::ranges::replace(name, ' ', '_');
    add(name + "_us", times[i]);
  }
  add("other_kernels_us", other);
  const auto& memory = report.memory;
  const auto known = [&](auto value) {
    return memory ? Value(value(*memory)) : Value();
  };
  add("hbm_bytes",
      known([](const MemoryUse& m) { return WholeBytes(m.hbm_bytes); }));
  add("hbm_capacity_bytes", known([](const MemoryUse& m) {
        return WholeBytes(m.hbm_capacity_bytes);
      }));
  add("fits", known([](const MemoryUse& m) { return m.fits(); }));
  return table;
}

void AddStepPictures(const engine::StepResult& step, Doc& doc) {
  doc.blocks.emplace_back(Picture{.title = "timeline",
                                  .about = std::string(kTimelineText),
                                  .drawing = MakeTimelines([&step] {
                                    return std::vector<NamedTimeline>{
                                        {.timeline = StepTimeline(step)}};
                                  })});
  doc.blocks.emplace_back(KernelTable(step));
}

}  // namespace

std::string SubjectText(const PredictionSubject& subject) {
  // A trace is known by its path: its name says enough.
  const std::filesystem::path path(subject.workload);
  const std::string name =
      (path.has_filename() ? path : path.parent_path()).filename().string();
  std::string text = fmt::format("{} on {}", name, subject.gpu);
  if (subject.num_gpus > 1) {
    text = fmt::format("{} on {} x {}", name, subject.num_gpus, subject.gpu);
  }
  if (!subject.platform.empty()) {
    text += fmt::format(" ({})", subject.platform);
  }
  std::vector<std::string> facts;
  if (subject.batch_per_gpu > 0) {
    facts.push_back(fmt::format("batch {} per {}",
                                WithThousands(subject.batch_per_gpu),
                                subject.server ? "process" : "GPU"));
  }
  for (const std::string* fact :
       {&subject.mode, &subject.precision, &subject.impl}) {
    if (!fact->empty()) {
      facts.push_back(*fact);
    }
  }
  facts.push_back("overheads " + subject.overheads);
  return fmt::format("{}, {}", text, Join(facts, ", "));
}

std::string StepVerdict(const PredictionReport& report) {
  return Verdict(report.limits, report.slowest, report.subject.server);
}

Doc PredictionDoc(const PredictionReport& report,
                  const engine::StepResult* step) {
  Doc doc;
  doc.title = SubjectText(report.subject);
  doc.verdict = fmt::format("{} ms per step, {}", MillisecondsText(report.step),
                            StepVerdict(report));
  if (!report.fits()) {
    doc.verdict = "does not fit in memory; if it did: " + doc.verdict;
  }
  doc.blocks.emplace_back(SubjectFacts(report.subject));
  doc.blocks.emplace_back(PredictedFacts(report));
  if (report.memory) {
    doc.blocks.emplace_back(MemoryFacts(*report.memory));
  }
  doc.blocks.emplace_back(DetailFacts(report));
  doc.blocks.emplace_back(Picture{.title = "where the time goes",
                                  .about = std::string(kBarsText),
                                  .drawing = AccountBars(report.ranks)});
  doc.blocks.emplace_back(
      PartsTable(report.slowest,
                 report.ranks.size() > 1
                     ? fmt::format("rank {}, the slowest", report.slowest.rank)
                     : ""));
  AddLimits(report.limits, report.step, report.subject.server, doc);
  doc.blocks.emplace_back(PathTable(report.critical_path));
  doc.blocks.emplace_back(PredictedRanks(report));
  if (step != nullptr) {
    AddStepPictures(*step, doc);
    if (report.models != nullptr) {
      AddRates(*step, engine::MeasureTraffic(*step),
               {.with = {.models = report.models}, .gpu = report.subject.gpu},
               RateTimes::kPredicted, doc);
    }
  }
  if (!report.ops.empty()) {
    doc.blocks.emplace_back(OpsTable(report.ops));
  }
  Table sources = SourceTable({&report}, {"share"});
  sources.about = fmt::format("Window: {}. Overheads of the host: {}.",
                              report.subject.window, report.subject.overheads);
  doc.blocks.emplace_back(std::move(sources));
  doc.blocks.emplace_back(Notes{report.notes});
  doc.csv = CsvTable(report);
  return doc;
}

}  // namespace stepcast::view
