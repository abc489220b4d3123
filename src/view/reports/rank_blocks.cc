#include "view/reports/rank_blocks.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text/join.h"
#include "base/text/text_table.h"
#include "base/units.h"
#include "view/reports/text_parts.h"

namespace stepcast::view {
namespace {

// Rows that text shows.
constexpr size_t kStepRows = 10;
constexpr size_t kFamilyRows = 12;
constexpr size_t kUnknownRows = 8;

// A sentence for people.
Fact Line(std::string_view label, std::string text) {
  return {{.label = std::string(label)}, std::move(text)};
}

void AddCounts(const std::vector<std::pair<std::string_view, int64_t>>& counts,
               Facts& facts) {
  for (const auto& [key, count] : counts) {
    facts.push_back({{.key = std::string(key)}, count});
  }
}

std::string RankLine(const RankReport& rank) {
  std::string text = rank.rank_recorded
                         ? fmt::format("{}", rank.rank)
                         : fmt::format("not recorded, taken as {}", rank.rank);
  if (rank.world_size) {
    text += fmt::format(" of {}", *rank.world_size);
  }
  if (!rank.backend.empty()) {
    text += fmt::format(" ({})", rank.backend);
  }
  return text;
}

Facts FileFactsOf(const RankReport& rank) {
  Table files{.columns = {{.key = "path"},
                          {.key = "format"},
                          {.key = "dialect"},
                          {.key = "schema"},
                          {.key = "text_bytes"}}};
  Facts facts;
  for (const FileFacts& file : rank.files) {
    facts.push_back(Line("file", file.path));
    facts.back().note = FormatText(file);
    files.rows.push_back({file.path, file.format, file.dialect, file.schema,
                          static_cast<int64_t>(file.text_bytes)});
  }
  if (!rank.graph) {
    facts.push_back(Line("rank", RankLine(rank)));
  }
  if (rank.trace) {
    facts.push_back(Line("GPU", DevicesText(rank.devices)));
  }
  facts.push_back({{.key = "rank"}, rank.rank});
  facts.push_back({{.key = "rank_recorded"}, rank.rank_recorded});
  facts.push_back({{.key = "world_size"},
                   rank.world_size ? Value(*rank.world_size) : Value(nullptr)});
  facts.push_back({{.key = "backend"}, rank.backend});
  facts.push_back(
      {{.key = "files"}, std::make_shared<const Table>(std::move(files))});
  std::vector<std::string> gpus;
  gpus.reserve(rank.devices.size());
  for (const trace::DeviceInfo& device : rank.devices) {
    gpus.push_back(device.name);
  }
  facts.push_back({{.key = "gpus"}, std::move(gpus)});
  return facts;
}

// How the steps were distinguished.
std::string StepSourceText(const trace::TraceFacts& facts) {
  switch (facts.step_source) {
    case trace::StepSource::kMarked:
      return fmt::format("each a {} range on the host", facts.step_marker);
    case trace::StepSource::kStepEnd:
      return fmt::format("each from the end of one {} to the end of the next",
                         facts.step_marker);
    case trace::StepSource::kWholeTrace:
      break;
  }
  return "the whole trace, as nothing marks steps";
}

// The value that `percent` of the sorted values do not exceed.
Duration Percentile(const std::vector<Duration>& sorted, size_t percent) {
  CHECK(!sorted.empty() && percent <= 100);
  return sorted[std::min(sorted.size() * percent / 100, sorted.size() - 1)];
}

std::string SpreadText(std::vector<Duration> values) {
  std::ranges::sort(values);
  return fmt::format("median {}, min {}, p90 {}, max {} ms",
                     MillisecondsText(Percentile(values, 50)),
                     MillisecondsText(values.front()),
                     MillisecondsText(Percentile(values, 90)),
                     MillisecondsText(values.back()));
}

// Of many steps, their spread says more than a list.
Facts StepSpread(const trace::TraceFacts& facts) {
  // The first step of that kind begins with the trace, wherever that was.
  const bool skips_first = facts.step_source == trace::StepSource::kStepEnd;
  std::vector<Duration> times;
  std::vector<Duration> busy;
  for (size_t i = skips_first ? 1 : 0; i < facts.steps.size(); ++i) {
    times.push_back(facts.steps[i].duration);
    busy.push_back(facts.steps[i].busy);
  }
  const std::string note =
      skips_first ? "without the first, which begins with the trace" : "";
  return {{{.label = "step time"}, SpreadText(std::move(times)), note},
          {{.label = "GPU busy in it"}, SpreadText(std::move(busy)), note}};
}

void AddSteps(const trace::TraceFacts& facts, Doc& doc) {
  const bool many = facts.steps.size() > kStepRows;
  Facts found = {{{.key = "profiler.steps_found_by"},
                  std::string(Name(facts.step_source))},
                 {{.key = "profiler.step_marker"}, facts.step_marker}};
  if (facts.steps.empty()) {
    found.push_back(Line("steps", "none"));
  } else if (many) {
    found.push_back(Line(
        "steps", fmt::format("{}, {}", WithThousands(std::ssize(facts.steps)),
                             StepSourceText(facts))));
  }
  doc.blocks.emplace_back(std::move(found));
  if (many) {
    doc.blocks.emplace_back(StepSpread(facts));
  }
  Table table{.key = "profiler.steps",
              .title = "steps",
              .caption = StepSourceText(facts),
              .columns = {{.key = "step", .label = "step"},
                          {.key = "start_us", .label = "start"},
                          {.key = "time_us", .label = "time"},
                          {.key = "gpu_busy_us", .label = "GPU busy in it"},
                          {.label = "of the step"}},
              .limit = kStepRows,
              .readers = many ? Readers::kPrograms : Readers::kAll};
  for (const trace::StepFacts& step : facts.steps) {
    table.rows.push_back({step.number, step.start, step.duration, step.busy,
                          ShareOf(step.busy, step.duration)});
  }
  doc.blocks.emplace_back(std::move(table));
}

std::string ExternalIdText(const trace::TraceFacts& facts) {
  return facts.external_ids.is_correlation
             ? std::string("= correlation (no op link)")
             : fmt::format("links op for {}/{}", facts.external_ids.linked,
                           facts.device_events());
}

// What people read of a trace.
void AddTraceLines(const trace::TraceFacts& facts, Facts& lines) {
  lines.push_back(Line(
      "host", fmt::format("{} ({} with shapes) on {}; {}; {}",
                          CountText(facts.ops, "op"),
                          WithThousands(facts.ops_with_shapes),
                          CountText(facts.threads_with_ops, "thread"),
                          CountText(facts.annotations, "annotation"),
                          CountText(facts.runtime_calls, "runtime call"))));
  lines.push_back(Line(
      "device",
      fmt::format(
          "{}, {} {} on {}; {} without a launch in the file",
          CountText(facts.kernels, "kernel"), WithThousands(facts.copies),
          facts.copies == 1 ? "copy or memset" : "copies and memsets",
          CountText(facts.streams, "stream"), WithThousands(facts.orphans))));
  if (facts.device_events() > 0) {
    lines.push_back(
        Line("GPU busy",
             fmt::format("{} ms, {} of the {} ms from first start to last end "
                         "of device work",
                         MillisecondsText(facts.busy),
                         PercentText(facts.busy, facts.span),
                         MillisecondsText(facts.span))));
    lines.push_back(Line(
        "collectives",
        facts.collective_busy == Duration{}
            ? "none"
            : fmt::format("{} ms of the busy time, waiting for other ranks "
                          "included",
                          MillisecondsText(facts.collective_busy))));
    lines.push_back(Line("External id", ExternalIdText(facts)));
  }
  std::vector<std::string> kinds;
  for (const trace::NamedCount& kind : facts.skipped) {
    std::string name = kind.name;
    std::ranges::replace(name, '_', ' ');
    kinds.push_back(fmt::format("{} {}", WithThousands(kind.count), name));
  }
  if (!kinds.empty()) {
    lines.push_back(Line("not used", Join(kinds, ", ")));
  }
}

void AddTrace(const trace::TraceFacts& trace, Doc& doc) {
  AddSteps(trace, doc);
  Facts facts;
  AddTraceLines(trace, facts);
  AddCounts({{"profiler.ops", trace.ops},
             {"profiler.ops_with_shapes", trace.ops_with_shapes},
             {"profiler.annotations", trace.annotations},
             {"profiler.threads_with_ops", trace.threads_with_ops},
             {"profiler.runtime_calls", trace.runtime_calls},
             {"profiler.kernels", trace.kernels},
             {"profiler.copies", trace.copies},
             {"profiler.streams", trace.streams},
             {"profiler.sync_events", trace.sync_events},
             {"profiler.orphans", trace.orphans}},
            facts);
  facts.push_back({{.key = "profiler.gpu_busy_us"}, trace.busy});
  facts.push_back({{.key = "profiler.gpu_span_us"}, trace.span});
  facts.push_back({{.key = "profiler.collectives_us"}, trace.collective_busy});
  facts.push_back({{.key = "profiler.external_id.is_correlation"},
                   trace.external_ids.is_correlation});
  facts.push_back(
      {{.key = "profiler.external_id.linked"}, trace.external_ids.linked});
  facts.push_back({{.key = "profiler.skipped_events."}, true});
  for (const trace::NamedCount& kind : trace.skipped) {
    facts.push_back(
        {{.key = "profiler.skipped_events." + kind.name}, kind.count});
  }
  doc.blocks.emplace_back(std::move(facts));
}

Facts ExecutionLines(const ExecutionFacts& execution) {
  std::string text = fmt::format(
      "{} ({} with shapes) on {}; {}", CountText(execution.ops, "op"),
      WithThousands(execution.ops_with_shapes),
      CountText(execution.threads_with_ops, "thread"),
      CountText(execution.annotations, "annotation"));
  if (execution.device_nodes > 0) {
    text += "; " + CountText(execution.device_nodes, "device node");
  }
  Facts facts = {Line("execution", text)};
  AddCounts({{"execution.ops", execution.ops},
             {"execution.ops_with_shapes", execution.ops_with_shapes},
             {"execution.annotations", execution.annotations},
             {"execution.threads_with_ops", execution.threads_with_ops},
             {"execution.device_nodes", execution.device_nodes}},
            facts);
  return facts;
}

void AddPairing(const PairingFacts& pairing, Doc& doc) {
  Table table{.key = "pairing.threads",
              .title = "the execution trace's threads in the profiler trace",
              .columns = {{.key = "execution_thread", .label = "thread"},
                          {.key = "trace_thread", .label = "profiler thread"},
                          {.key = "nodes", .label = "nodes"},
                          {.key = "matches", .label = "exact matches"}}};
  for (const ThreadPairing& thread : pairing.threads) {
    table.rows.push_back({thread.execution_thread, thread.trace_thread,
                          thread.nodes, thread.matches});
  }
  doc.blocks.emplace_back(std::move(table));
  Facts facts = {Line(
      "pairing",
      fmt::format("by the order of names; {}",
                  pairing.compared_shapes == 0
                      ? "no shapes to compare"
                      : fmt::format("{} of {} shapes differ",
                                    WithThousands(pairing.different_shapes),
                                    WithThousands(pairing.compared_shapes))))};
  AddCounts({{"pairing.compared_shapes", pairing.compared_shapes},
             {"pairing.different_shapes", pairing.different_shapes}},
            facts);
  doc.blocks.emplace_back(std::move(facts));
}

Facts GraphLines(const GraphFacts& graph) {
  Facts facts = {Line(
      "graph",
      fmt::format("{}, {}, {}; {}; {}; {}, {} with times; {}",
                  CountText(graph.ranks, "rank"),
                  CountText(graph.threads, "thread"),
                  CountText(graph.streams, "stream"),
                  CountText(graph.ops, "op"), CountText(graph.calls, "call"),
                  CountText(graph.activities, "GPU activity", "GPU activities"),
                  WithThousands(graph.measured_activities),
                  CountText(graph.collectives, "matched collective")))};
  AddCounts({{"graph.ranks", graph.ranks},
             {"graph.threads", graph.threads},
             {"graph.streams", graph.streams},
             {"graph.ops", graph.ops},
             {"graph.calls", graph.calls},
             {"graph.works", graph.activities},
             {"graph.measured_ops", graph.measured_ops},
             {"graph.measured_works", graph.measured_activities},
             {"graph.collectives", graph.collectives}},
            facts);
  return facts;
}

}  // namespace

std::string FormatText(const FileFacts& file) {
  std::string text = file.format;
  if (!file.dialect.empty()) {
    text += " " + file.dialect;
  }
  if (!file.schema.empty()) {
    text += ", schema " + file.schema;
  }
  return text;
}

std::string DevicesText(const std::vector<trace::DeviceInfo>& devices) {
  std::vector<std::string> names;
  for (const trace::DeviceInfo& device : devices) {
    std::vector<std::string> facts;
    if (device.sm_count > 0) {
      facts.push_back(CountText(device.sm_count, "SM"));
    }
    if (device.memory_bytes > 0) {
      facts.push_back(BytesText(Bytes{device.memory_bytes}));
    }
    std::string name = device.name;
    if (!facts.empty()) {
      name += fmt::format(" ({})", Join(facts, ", "));
    }
    if (!std::ranges::count(names, name)) {
      names.push_back(std::move(name));
    }
  }
  return names.empty() ? "not recorded" : Join(names, ", ");
}

void AddCoverage(const trace::Coverage& coverage, Doc& doc) {
  const bool timed = coverage.time > Duration{};
  Table families{
      .key = "families",
      .title = timed ? "GPU time by family" : "GPU activities by family",
      .caption = timed ? "summed over all GPU activities; time in which two "
                         "overlap counts twice"
                       : "there are no times",
      .columns = {{.key = "family", .label = "family"},
                  {.key = "works", .label = "activities"},
                  {.key = "time_us", .label = timed ? "time" : ""},
                  {.label = "share"},
                  {.key = "sized_us"},
                  {.label = "sizes known"}},
      .limit = kFamilyRows};
  for (const trace::FamilyTime& row : coverage.families) {
    families.rows.push_back(
        {row.family, row.count, row.time,
         timed ? Value(ShareOf(row.time, coverage.time)) : Value(), row.sized,
         timed ? Value(ShareOf(row.sized, row.time)) : Value()});
  }
  doc.blocks.emplace_back(std::move(families));
  Table unknown{
      .key = "unclassified",
      .title = "names that no rule knows",
      .columns = {{.key = "name", .label = "name", .width = kNameWidth},
                  {.key = "works", .label = "activities"},
                  {.key = "time_us", .label = "time"}},
      .limit = kUnknownRows};
  for (const trace::UnknownKernel& row : coverage.unknown) {
    unknown.rows.push_back({row.name, row.count, row.time});
  }
  doc.blocks.emplace_back(std::move(unknown));
}

Table DiagnosticTable(const Diagnostics& diagnostics) {
  Table table{.key = "diagnostics",
              .columns = {{.key = "name"},
                          {.key = "severity"},
                          {.key = "count"},
                          {.key = "what"},
                          {.key = "advice"},
                          {.key = "examples"}},
              .readers = Readers::kPrograms};
  for (const Diagnostic& item : diagnostics.list()) {
    table.rows.push_back(
        {std::string(item.kind.name),
         std::string(item.kind.severity == Severity::kInfo ? "info"
                                                           : "warning"),
         item.count, std::string(item.kind.what), std::string(item.kind.advice),
         item.examples});
  }
  return table;
}

Facts VerdictFacts(const InputVerdict& verdict) {
  return {{{.key = "verdict.replay"}, verdict.replay},
          {{.key = "verdict.host_only"}, verdict.host_only},
          {{.key = "verdict.prediction"}, verdict.prediction},
          {{.key = "verdict.other_gpus"}, verdict.other_gpus},
          {{.key = "verdict.missing"}, verdict.missing}};
}

Doc RankBlocks(const RankReport& rank) {
  Doc doc;
  doc.blocks.emplace_back(FileFactsOf(rank));
  doc.blocks.emplace_back(VerdictFacts(rank.verdict));
  if (rank.trace) {
    AddTrace(*rank.trace, doc);
  }
  if (rank.execution) {
    doc.blocks.emplace_back(ExecutionLines(*rank.execution));
  }
  if (rank.pairing) {
    AddPairing(*rank.pairing, doc);
  }
  if (rank.graph) {
    doc.blocks.emplace_back(GraphLines(*rank.graph));
  }
  const trace::Coverage& coverage = rank.coverage;
  Facts facts;
  if (coverage.activities > 0) {
    facts.push_back(Line(
        "understood",
        fmt::format("{} of {} classified, {} with known sizes",
                    PercentText(coverage.classified_share()),
                    coverage.time > Duration{} ? "GPU time" : "GPU activities",
                    PercentText(coverage.sized_share()))));
  } else {
    facts.push_back(Line("understood", "no GPU activity to classify"));
  }
  facts.push_back({{.key = "works"}, coverage.activities});
  facts.push_back({{.key = "gpu_time_us"}, coverage.time});
  facts.push_back({{.key = "classified"}, Share{coverage.classified_share()}});
  facts.push_back({{.key = "sized"}, Share{coverage.sized_share()}});
  doc.blocks.emplace_back(std::move(facts));
  AddCoverage(coverage, doc);
  doc.blocks.emplace_back(DiagnosticTable(rank.diagnostics));
  return doc;
}

}  // namespace stepcast::view
