// The reports of changes to a step.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/text_table.h"
#include "base/units.h"
#include "view/html/bars.h"
#include "view/reports/model_report.h"
#include "view/reports/step_blocks.h"
#include "view/reports/suggestions.h"
#include "view/reports/text_parts.h"
#include "view/reports/whatif.h"
#include "view/timelines/timeline.h"

namespace stepcast::view {
namespace {

using PathKey = std::pair<engine::PathKind, std::string>;

std::map<PathKey, Duration> PathTimes(const whatif::Case& subject) {
  std::map<engine::PathSubject, Duration> by_subject;
  for (const engine::PathPart& part : engine::PathInStep(subject.result)) {
    by_subject[part.subject] += part.end - part.begin;
  }
  std::map<PathKey, Duration> times;
  for (const auto& [key, time] : by_subject) {
    times[{key.kind, engine::Text(*subject.result.graph, key)}] += time;
  }
  return times;
}

std::vector<PathChange> ComparePaths(const whatif::Case& before,
                                     const whatif::Case& after) {
  std::map<PathKey, PathChange> changes;
  for (const auto& [key, time] : PathTimes(before)) {
    changes[key].before = time;
  }
  for (const auto& [key, time] : PathTimes(after)) {
    changes[key].after = time;
  }
  std::vector<PathChange> sorted;
  for (auto& [key, change] : changes) {
    change.kind = key.first;
    change.what = key.second;
    if (change.before != change.after) {
      sorted.push_back(change);
    }
  }
  std::ranges::stable_sort(
      sorted, [](const PathChange& a, const PathChange& b) {
        return std::chrono::abs(a.delta()) > std::chrono::abs(b.delta());
      });
  sorted.resize(std::min(sorted.size(), kMostOfPath));
  return sorted;
}

}  // namespace

PredictionReport ReportCase(const whatif::Case& subject,
                            const std::string& name) {
  const sim::TaskTimes times = whatif::ToTaskTimes(
      subject.result.graph->data(), subject.result.lowered, subject.times);
  if (subject.model != nullptr) {
    return ReportModel(subject.job->request, *subject.model, subject.result,
                       &times);
  }
  const bool measured = subject.result.graph->is_timed();
  PredictionReport report = ReportPrediction(
      subject.result,
      {.workload = name,
       .platform = subject.machine.platform,
       .gpu =
           subject.machine.gpu.empty() ? "an unknown GPU" : subject.machine.gpu,
       .num_gpus =
           static_cast<int64_t>(subject.result.graph->data().ranks.size()),
       .overheads = subject.overheads,
       .window = measured ? "steady step, with the profiler of the recording"
                          : "steady step"},
      &times);
  if (subject.machine.device.name !=
      subject.times.origin->machine.device.name) {
    report.measured.clear();
  }
  for (MeasuredStep& step : report.measured) {
    step.step = subject.recorded.value_or(step.step);
  }
  return report;
}

WhatifReport ReportWhatif(const whatif::Case& before,
                          const whatif::Changed& changed,
                          std::span<const whatif::Change> changes,
                          const std::string& name) {
  WhatifReport report;
  report.before = ReportCase(before, name);
  report.after = ReportCase(changed.after, name);
  // What was measured is of the step before.
  report.after.measured.clear();
  for (const whatif::Change& change : changes) {
    report.changes.push_back(change.text);
  }
  report.delta = changed.delta;
  report.bound = changed.bound;
  report.path = ComparePaths(before, changed.after);
  report.notes = changed.notes;
  if (changed.after.model != nullptr && changed.after.model != before.model) {
    const std::vector<std::string>& more = changed.after.model->notes;
    report.notes.insert(report.notes.end(), more.begin(), more.end());
  }
  return report;
}

std::vector<PartDifference> PartsOf(const WhatifReport& report) {
  return DifferencesOf(PartsOf(report.before.slowest),
                       PartsOf(report.after.slowest));
}

std::string DeltaText(Duration delta) {
  return fmt::format("{:+.3f}", ToMilliseconds(delta));
}

std::string DeltaPercentText(Duration delta, Duration whole) {
  return whole.count() == 0
             ? "-"
             : fmt::format("{:+.1f} %", 100.0 *
                                            static_cast<double>(delta.count()) /
                                            static_cast<double>(whole.count()));
}

namespace {

std::string WhatifVerdict(const WhatifReport& report) {
  if (MillisecondsText(report.before.step) ==
      MillisecondsText(report.after.step)) {
    return fmt::format("nothing changes: {} ms per step before and after, {}",
                       MillisecondsText(report.after.step),
                       StepVerdict(report.after));
  }
  return fmt::format(
      "{}{}{} of the step time: {} to {} ms, then {}",
      !report.after.fits() ? "does not fit in memory; if it did: " : "",
      report.bound ? "at most " : "",
      DeltaPercentText(report.delta.step, report.before.step),
      MillisecondsText(report.before.step), MillisecondsText(report.after.step),
      StepVerdict(report.after));
}

std::string SuggestionVerdict(const SuggestionsReport& report) {
  const PredictionReport& before = report.before;
  std::string text = fmt::format(
      "{} ms per step, {}", MillisecondsText(before.step), StepVerdict(before));
  if (report.gains.empty()) {
    return text + "; no single change helps";
  }
  const SuggestionRow& best = report.gains.front();
  return fmt::format("{}; {} gains most: {}{}", text, best.change,
                     best.bound ? "at most " : "",
                     PercentText(-best.delta.step, before.step));
}

// "before 6.578 ms"
std::string BeforeText(Duration time) {
  return fmt::format("before {} ms", MillisecondsText(time));
}

Facts ChangeFacts(const WhatifReport& report) {
  const whatif::Delta& delta = report.delta;
  const std::string percent = DeltaPercentText(delta.step, report.before.step);
  Facts facts;
  facts.push_back({{.key = "workload"}, report.before.subject.workload});
  facts.push_back({{.key = "changes"}, report.changes});
  facts.push_back({{.label = "step time"},
                   report.after.step,
                   BeforeText(report.before.step)});
  facts.push_back(
      {{.key = "delta.step_time_us", .label = "change", .sign = true},
       delta.step,
       delta.p10 == delta.p90
           ? percent
           : fmt::format("{}; p10 {}, p90 {} ms", percent, DeltaText(delta.p10),
                         DeltaText(delta.p90))});
  facts.push_back(
      {{.key = "delta.step_time_pct"},
       Percent{report.before.step.count() == 0
                   ? 0
                   : kPercent *
                         ShareOf(delta.step, report.before.step).of_one}});
  facts.push_back({{.key = "delta.interval_us.p10"}, delta.p10});
  facts.push_back({{.key = "delta.interval_us.p50"}, delta.p50});
  facts.push_back({{.key = "delta.interval_us.p90"}, delta.p90});
  facts.push_back({{.key = "delta.bound"}, report.bound});
  return facts;
}

// What else is different, for people: programs have both steps in full.
Facts ChangedFacts(const PredictionReport& before,
                   const PredictionReport& after) {
  Facts facts;
  if (before.samples_per_s > 0 && after.samples_per_s > 0) {
    facts.push_back(
        {{.label = "throughput", .unit = "samples/s"},
         after.samples_per_s,
         fmt::format("before {}", WithThousands(static_cast<int64_t>(
                                      before.samples_per_s)))});
  }
  facts.push_back({{.label = "GPU active"},
                   after.slowest.gpu_active,
                   BeforeText(before.slowest.gpu_active)});
  facts.push_back({{.label = "host busy"},
                   after.slowest.host_busy,
                   BeforeText(before.slowest.host_busy)});
  if (before.memory && after.memory) {
    facts.push_back(
        {{.label = "memory"},
         Bytes{static_cast<int64_t>(after.memory->hbm_bytes)},
         fmt::format("of {:.2f} GB{}, before {:.2f}",
                     after.memory->hbm_capacity_bytes / kGiga,
                     after.memory->fits_device() ? "" : ": DOES NOT FIT",
                     before.memory->hbm_bytes / kGiga)});
  }
  return facts;
}

// The slowest rank of either step, then all ranks, each before and after.
std::vector<NamedParts> ChangedBars(const WhatifReport& report) {
  const auto& befores = report.before.ranks;
  const auto& afters = report.after.ranks;
  if (befores.size() <= 1 && afters.size() <= 1) {
    return {{"before", PartsOf(report.before.slowest)},
            {"after", PartsOf(report.after.slowest)}};
  }
  std::vector<NamedParts> bars;
  for (size_t i = 0; i < std::max(befores.size(), afters.size()); ++i) {
    if (i < befores.size()) {
      bars.push_back({RankName(befores[i]) + " before", PartsOf(befores[i])});
    }
    if (i < afters.size()) {
      bars.push_back({RankName(afters[i]) + " after", PartsOf(afters[i])});
    }
  }
  return bars;
}

// Whose the parts are, where there are several ranks.
std::string SlowestText(const WhatifReport& report) {
  if (report.before.ranks.size() < 2 && report.after.ranks.size() < 2) {
    return "";
  }
  const int64_t before = report.before.slowest.rank;
  const int64_t after = report.after.slowest.rank;
  return before == after ? fmt::format("rank {}, the slowest", before)
                         : fmt::format("the slowest: rank {} before, {} after",
                                       before, after);
}

void AddChangedParts(const WhatifReport& report, Doc& doc) {
  html::Waterfall waterfall{.begin_name = "before",
                            .begin = report.before.slowest.step,
                            .steps = {},
                            .end_name = "after"};
  Table table{.key = "parts",
              .title = "what changes",
              .caption = SlowestText(report),
              .columns = {{.key = "name"},
                          {.label = "part"},
                          {.key = "before_us", .label = "before"},
                          {.key = "after_us", .label = "after"},
                          {.label = "change", .sign = true},
                          {.label = "change", .sign = true}}};
  const auto add = [&](std::string key, std::string name, Duration before,
                       Duration after) {
    table.rows.push_back({std::move(key), std::move(name), before, after,
                          after - before, ShareOf(after - before, before)});
  };
  for (const PartDifference& part : PartsOf(report)) {
    const std::string name(PartText(part.name));
    waterfall.steps.push_back({name, part.delta()});
    add(part.name, name, part.a, part.b);
  }
  add("step_time", "step time", report.before.slowest.step,
      report.after.slowest.step);
  doc.csv = table;
  doc.blocks.emplace_back(
      Picture{.title = table.title, .drawing = std::move(waterfall)});
  doc.blocks.emplace_back(std::move(table));
}

Table PathChangeTable(const WhatifReport& report) {
  Table table{.key = "critical_path_changes",
              .title = "critical path, what changed most",
              .about = std::string(kPathText),
              .columns = {{.key = "kind", .label = "kind"},
                          {.key = "name", .label = "what", .width = kNameWidth},
                          {.key = "before_us", .label = "before"},
                          {.key = "after_us", .label = "after"},
                          {.label = "change", .sign = true},
                          {.label = "change", .sign = true}},
              .limit = kPathRows,
              .none = "it is as it was"};
  for (const PathChange& change : report.path) {
    table.rows.push_back({std::string(engine::Name(change.kind)), change.what,
                          change.before, change.after, change.delta(),
                          ShareOf(change.delta(), change.before)});
  }
  return table;
}

Facts NextBottleneck(const PathSummary& path) {
  if (path.longest.empty()) {
    return {};
  }
  const PathShare& share = path.longest.front();
  return {
      {{.key = "next_bottleneck.kind"}, std::string(engine::Name(share.kind))},
      {{.key = "next_bottleneck.name"}, share.what},
      {{.key = "next_bottleneck.us", .label = "next bottleneck"},
       share.time,
       fmt::format("{}, {} of the critical path",
                   ElideMiddle(share.what, kNameWidth),
                   PercentText(share.time, path.length))}};
}

std::vector<std::string> ChangeNotes(const WhatifReport& report) {
  std::vector<std::string> notes = report.notes;
  if (report.bound) {
    notes.insert(notes.begin(), "a bound: what is gained is at most this");
  }
  return notes;
}

Nested NestedStep(std::string key, const PredictionReport& report) {
  return {.key = std::move(key),
          .doc = std::make_shared<const Doc>(PredictionDoc(report))};
}

// For pages: what is known of the step after the changes.
void AddAfter(const WhatifReport& report, const whatif::Case& before,
              const whatif::Case& after, Doc& doc) {
  Table path = PathTable(report.after.critical_path);
  path.key.clear();
  path.title = "critical path after the change";
  path.readers = Readers::kPages;
  doc.blocks.emplace_back(std::move(path));
  doc.blocks.emplace_back(
      Picture{.title = "timelines",
              .about = std::string(kTimelineText),
              .drawing = MakeTimelines([&before, &after] {
                return std::vector<NamedTimeline>{
                    {.name = "before", .timeline = StepTimeline(before.result)},
                    {.name = "after", .timeline = StepTimeline(after.result)}};
              })});
  Table kernels = KernelTable(after.result);
  kernels.title += " after the change";
  doc.blocks.emplace_back(std::move(kernels));
  Table sources =
      SourceTable({&report.before, &report.after}, {"before", "after"});
  sources.about = fmt::format("Before: {}. Overheads of the host: {}.",
                              report.before.subject.window,
                              report.before.subject.overheads);
  sources.readers = Readers::kPages;
  doc.blocks.emplace_back(std::move(sources));
}

html::Bars GainBars(const SuggestionsReport& report) {
  constexpr size_t kBarNameLength = 40;
  html::Bars bars{.parts = {{"step with the change", "total"},
                            {"gained", "gain"},
                            {"gained at most", "wait"}},
                  .bars = {},
                  .name_width = 250};
  for (const SuggestionRow& row : report.gains) {
    const Duration gain = -row.delta.step;
    const Duration after = report.before.step - gain;
    bars.bars.push_back(
        {.name = ElideMiddle(Printable(row.change), kBarNameLength),
         .times = {after, row.bound ? Duration{} : gain,
                   row.bound ? gain : Duration{}},
         .label = MillisecondsText(after) + " ms"});
  }
  return bars;
}

Table GainTable(const SuggestionsReport& report) {
  Table table{
      .key = "suggestions",
      .title = "what would help",
      .about =
          "Each change alone, the largest gain first; next to each bar is "
          "the step time with it. At most: the gain is an upper bound. Of a "
          "larger batch, the gain is that of as many samples.",
      .columns = {{.key = "change", .label = "what"},
                  {.key = "delta_us", .label = "change", .sign = true},
                  {.label = "change", .sign = true},
                  {.key = "interval_us.p10", .label = "p10", .sign = true},
                  {.key = "interval_us.p50"},
                  {.key = "interval_us.p90", .label = "p90", .sign = true},
                  {.key = "bound", .label = "upper bound"},
                  {.key = "confidence", .label = "confidence"},
                  {.key = "effort", .label = "effort"},
                  {.key = "reason", .label = "on the critical path"},
                  {.key = "action"},
                  {.key = "where"},
                  {.key = "risk"},
                  {.key = "per_sample"}},
      .none = "no single change helps"};
  for (const SuggestionRow& row : report.gains) {
    table.rows.push_back({row.change, row.delta.step,
                          ShareOf(row.delta.step, report.before.step),
                          row.delta.p10, row.delta.p50, row.delta.p90,
                          row.bound, std::string(row.confidence),
                          std::string(whatif::Name(row.action.effort)),
                          row.reason, row.action.text, row.action.where,
                          std::string(row.action.risk), row.per_sample});
  }
  return table;
}

// A paragraph for each: what to do, where, and what may go wrong.
void AddActions(const SuggestionsReport& report, Doc& doc) {
  for (const SuggestionRow& row : report.gains) {
    std::string text =
        fmt::format("{}: {}.", Printable(row.change), row.action.text);
    if (!row.action.where.empty()) {
      text += fmt::format(" Where: {}.", Printable(row.action.where));
    }
    if (!row.action.risk.empty()) {
      text += fmt::format(" Risk: {}.", row.action.risk);
    }
    doc.blocks.emplace_back(Text{.title = "what to do", .text = text});
  }
}

Table PairTable(const SuggestionsReport& report) {
  Table table{
      .key = "pairs",
      .title = "two together",
      .about =
          "Pairs of the changes above, and of one with a change that "
          "gains nothing alone, that gain more than either.",
      .columns = {{.key = "changes", .label = "what"},
                  {.key = "delta_us", .label = "change", .sign = true},
                  {.label = "change", .sign = true},
                  {.key = "interval_us.p10", .label = "p10", .sign = true},
                  {.key = "interval_us.p50"},
                  {.key = "interval_us.p90", .label = "p90", .sign = true},
                  {.key = "bound", .label = "upper bound"},
                  {.key = "confidence", .label = "confidence"}}};
  for (const PairRow& row : report.pairs) {
    table.rows.push_back({row.changes, row.delta.step,
                          ShareOf(row.delta.step, report.before.step),
                          row.delta.p10, row.delta.p50, row.delta.p90,
                          row.bound, std::string(row.confidence)});
  }
  return table;
}

Table RejectedTable(const SuggestionsReport& report) {
  Table table{.key = "rejected",
              .title = "without gain, or not for this step",
              .columns = {{.key = "change", .label = "what"},
                          {.key = "why", .label = "why not"}}};
  for (const whatif::Rejected& item : report.rejected) {
    table.rows.push_back({item.change, item.why});
  }
  return table;
}

}  // namespace

Doc WhatifDoc(const WhatifReport& report, const whatif::Case& before,
              const whatif::Case& after) {
  Doc doc;
  doc.title = fmt::format("{}: {}", Join(report.changes, ", "),
                          SubjectText(report.before.subject));
  doc.verdict = WhatifVerdict(report);
  doc.blocks.emplace_back(ChangeFacts(report));
  doc.blocks.emplace_back(ChangedFacts(report.before, report.after));
  doc.blocks.emplace_back(Picture{
      .title = "where the time goes",
      .about = fmt::format("{} {}", kBarsText, AlikeText(report.after.ranks)),
      .drawing = PartBars(ChangedBars(report))});
  AddChangedParts(report, doc);
  doc.blocks.emplace_back(PathChangeTable(report));
  doc.blocks.emplace_back(NextBottleneck(report.after.critical_path));
  doc.blocks.emplace_back(Notes{ChangeNotes(report)});
  AddAfter(report, before, after, doc);
  doc.blocks.emplace_back(NestedStep("before", report.before));
  doc.blocks.emplace_back(NestedStep("after", report.after));
  return doc;
}

Doc SuggestionsDoc(const SuggestionsReport& report,
                   const whatif::Case& before) {
  Doc doc;
  doc.title = SubjectText(report.before.subject);
  doc.verdict = SuggestionVerdict(report);
  Table gains = GainTable(report);
  doc.csv = gains;
  doc.blocks.emplace_back(
      Facts{{{.key = "workload"}, report.before.subject.workload},
            {{.label = "step time"}, report.before.step}});
  doc.blocks.emplace_back(Picture{
      .title = gains.title, .about = gains.about, .drawing = GainBars(report)});
  doc.blocks.emplace_back(std::move(gains));
  AddActions(report, doc);
  doc.blocks.emplace_back(PairTable(report));
  doc.blocks.emplace_back(RejectedTable(report));
  doc.blocks.emplace_back(Notes{report.notes});
  doc.blocks.emplace_back(Picture{.title = "where the time goes",
                                  .about = std::string(kBarsText),
                                  .drawing = AccountBars(report.before.ranks)});
  doc.blocks.emplace_back(
      Picture{.title = "timeline",
              .about = std::string(kTimelineText),
              .drawing = MakeTimelines([&before] {
                return std::vector<NamedTimeline>{
                    {.timeline = StepTimeline(before.result)}};
              })});
  Table path = PathTable(report.before.critical_path);
  path.key.clear();
  path.readers = Readers::kPages;
  doc.blocks.emplace_back(std::move(path));
  doc.blocks.emplace_back(NestedStep("before", report.before));
  return doc;
}

}  // namespace stepcast::view
