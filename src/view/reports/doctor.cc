#include "view/reports/doctor.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "base/text/join.h"
#include "base/text/text_table.h"
#include "engine/run/replay.h"
#include "ir/names.h"
#include "timeline/lower.h"
#include "timeline/predicted_plan.h"
#include "trace/build/build_graph.h"
#include "trace/classify/classify_all.h"
#include "trace/link/find_steps.h"
#include "trace/read/oddities.h"
#include "view/reports/rank_blocks.h"
#include "view/reports/text_parts.h"

namespace stepcast::view {
namespace {

// Rows that text shows of the collectives: those with the largest skew.
constexpr size_t kDoctorCollectiveRows = 24;

trace::Coverage AllCoverage(const DoctorReport& report) {
  trace::Coverage sum;
  for (const RankReport& rank : report.ranks) {
    sum = trace::Merged(sum, rank.coverage);
  }
  return sum;
}

std::string DoctorVerdict(const DoctorReport& report) {
  const InputVerdict& verdict = report.verdict;
  std::string text = fmt::format(
      "usable for replay: {}{}; for prediction: {}",
      verdict.replay ? "yes" : "no",
      verdict.replay && verdict.host_only ? ", of the host alone" : "",
      !verdict.prediction  ? "no"
      : verdict.other_gpus ? "yes"
      : verdict.replay     ? "yes, on its own GPU"
                           : "yes, roughly");
  const trace::Coverage coverage = AllCoverage(report);
  if (!verdict.other_gpus && coverage.activities > 0 &&
      coverage.sized_share() < kSizedEnough) {
    text +=
        fmt::format(" (sizes known for {} of {}, {:.0f} % needed)",
                    PercentText(coverage.sized_share()),
                    coverage.time > Duration{} ? "GPU time" : "GPU activities",
                    kSizedEnough * kPercent);
  }
  return text + fmt::format("; missing: {}", verdict.missing.empty()
                                                 ? "nothing"
                                                 : Join(verdict.missing, ", "));
}

// The one text that all ranks share, or "various".
template <typename Describe>
std::string Common(const DoctorReport& report, Describe describe) {
  const std::string first = describe(report.ranks.front());
  const bool same = std::ranges::all_of(
      report.ranks,
      [&](const RankReport& rank) { return describe(rank) == first; });
  return same ? first : "various";
}

std::string FormatsText(const RankReport& rank) {
  std::vector<std::string> formats;
  formats.reserve(rank.files.size());
  for (const FileFacts& file : rank.files) {
    formats.push_back(FormatText(file));
  }
  return Join(formats, " + ");
}

// "8 ranks of 8; kineto 2022, schema 1; Tesla V100-SXM2-32GB"
std::string JobTitle(const DoctorReport& report) {
  std::string text = CountText(std::ssize(report.ranks), "rank");
  const std::string world = Common(report, [](const RankReport& rank) {
    return rank.world_size ? fmt::format("{}", *rank.world_size) : "";
  });
  text += world.empty() ? "" : fmt::format(" of {}", world);
  text += "; " + Common(report, FormatsText);
  const std::string devices = Common(report, [](const RankReport& rank) {
    return rank.trace ? DevicesText(rank.devices) : "";
  });
  return devices.empty() ? text : text + "; " + devices;
}

// The files, or how many there are.
std::string FilesTitle(const DoctorReport& report) {
  constexpr size_t kMostNamed = 3;
  std::vector<std::string> names;
  for (const RankReport& rank : report.ranks) {
    for (const FileFacts& file : rank.files) {
      names.push_back(std::filesystem::path(file.path).filename().string());
    }
  }
  return names.size() <= kMostNamed ? Join(names, ", ")
                                    : CountText(std::ssize(names), "file");
}

Value MedianStep(const trace::TraceFacts& facts) {
  std::vector<Duration> times;
  times.reserve(facts.steps.size());
  for (const trace::StepFacts& step : facts.steps) {
    times.push_back(step.duration);
  }
  std::ranges::sort(times);
  return times.empty() ? Value(Duration{})
                       : Value(times[(times.size() - 1) / 2]);
}

std::string FirstFile(const RankReport& rank) {
  return rank.files.empty() ? "" : rank.files.front().path;
}

Table TimeTable(const DoctorReport& report) {
  Table table{.title = "time on the ranks",
              .about =
                  "Step: the median one. Busy: union of kernels, copies "
                  "and memsets. Span: their first start to last end. "
                  "Collectives: busy with them, waiting for other ranks "
                  "included.",
              .columns = {{.label = "rank"},
                          {.label = "steps"},
                          {.label = "step"},
                          {.label = "busy"},
                          {.label = "span"},
                          {.label = "busy"},
                          {.label = "collectives"},
                          {.label = "file", .width = kNameWidth}}};
  for (const RankReport& rank : report.ranks) {
    std::vector<Value> row = {rank.rank};
    row.resize(7, nullptr);
    if (rank.trace) {
      const trace::TraceFacts& facts = *rank.trace;
      row = {rank.rank,
             std::ssize(facts.steps),
             MedianStep(facts),
             facts.busy,
             facts.span,
             ShareOf(facts.busy, facts.span),
             facts.collective_busy};
    }
    row.emplace_back(FirstFile(rank));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Nothing where there is nothing to classify.
Value ClassifiedOf(const trace::Coverage& coverage) {
  return coverage.activities > 0 ? Value(Share{coverage.classified_share()})
                                 : Value(nullptr);
}

Value SizedOf(const trace::Coverage& coverage) {
  return coverage.activities > 0 ? Value(Share{coverage.sized_share()})
                                 : Value(nullptr);
}

Table ContentTable(const DoctorReport& report) {
  Table table{.title = "what the ranks' files hold",
              .about =
                  "Orphans: device events without a launch in the file. "
                  "Classified, sized: share of GPU time whose kernels are "
                  "known, whose sizes are known.",
              .columns = {{.label = "rank"},
                          {.label = "ops"},
                          {.label = "shapes"},
                          {.label = "calls"},
                          {.label = "kernels"},
                          {.label = "copies"},
                          {.label = "streams"},
                          {.label = "orphans"},
                          {.label = "classified"},
                          {.label = "sized"}}};
  for (const RankReport& rank : report.ranks) {
    std::vector<Value> row = {rank.rank};
    if (rank.trace) {
      const trace::TraceFacts& facts = *rank.trace;
      row = {rank.rank,           facts.ops,     facts.ops_with_shapes,
             facts.runtime_calls, facts.kernels, facts.copies,
             facts.streams,       facts.orphans};
    }
    row.resize(8, nullptr);
    row.push_back(ClassifiedOf(rank.coverage));
    row.push_back(SizedOf(rank.coverage));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// For ranks that have execution traces only.
Table ExecutionTable(const DoctorReport& report) {
  Table table{.title = "what the ranks' files hold",
              .columns = {{.label = "rank"},
                          {.label = "ops"},
                          {.label = "shapes"},
                          {.label = "device nodes"},
                          {.label = "classified"},
                          {.label = "sized"},
                          {.label = "file", .width = kNameWidth}}};
  for (const RankReport& rank : report.ranks) {
    const ExecutionFacts facts = rank.execution.value_or(ExecutionFacts{});
    table.rows.push_back({rank.rank, facts.ops, facts.ops_with_shapes,
                          facts.device_nodes, ClassifiedOf(rank.coverage),
                          SizedOf(rank.coverage), FirstFile(rank)});
  }
  return table;
}

Table PairingTable(const DoctorReport& report) {
  Table table{.title = "execution traces in profiler traces",
              .columns = {{.label = "rank"},
                          {.label = "nodes x exact matches of its threads"},
                          {.label = "shapes that differ"},
                          {.label = "of"}}};
  for (const RankReport& rank : report.ranks) {
    if (!rank.pairing) {
      continue;
    }
    std::vector<std::string> threads;
    for (const ThreadPairing& thread : rank.pairing->threads) {
      threads.push_back(
          fmt::format("{} x {}", WithThousands(thread.nodes), thread.matches));
    }
    table.rows.push_back({rank.rank, Join(threads, ", "),
                          rank.pairing->different_shapes,
                          rank.pairing->compared_shapes});
  }
  return table;
}

void AddJob(const DoctorReport& report, Doc& doc) {
  const bool any_trace = std::ranges::any_of(
      report.ranks,
      [](const RankReport& rank) { return rank.trace.has_value(); });
  if (any_trace) {
    doc.blocks.emplace_back(TimeTable(report));
    doc.blocks.emplace_back(ContentTable(report));
    doc.blocks.emplace_back(PairingTable(report));
  } else {
    doc.blocks.emplace_back(ExecutionTable(report));
  }
}

Table CollectiveRows(const DoctorReport& report) {
  Table table{
      .key = "collectives",
      .title = fmt::format("collectives of step {}",
                           report.collectives_step.value_or(0)),
      .caption =
          "start skew is first to last start, own last start to last end",
      .columns = {{.label = "#"},
                  {.key = "kind", .label = "kind"},
                  {.key = "ranks"},
                  {.key = "bytes", .label = "bytes per rank"},
                  {.key = "start_us"},
                  {.key = "start_skew_us", .label = "start skew", .unit = "us"},
                  {.key = "own_us", .label = "own", .unit = "us"},
                  {.key = "end_skew_us", .label = "ends differ", .unit = "us"},
                  {.key = "last_rank", .label = "last rank"}},
      .limit = kDoctorCollectiveRows,
      .keep_by = 5};
  for (size_t i = 0; i < report.collectives.size(); ++i) {
    const CollectiveFacts& item = report.collectives[i];
    table.rows.push_back({static_cast<int64_t>(i),
                          std::string(ir::Name(item.kind)), item.ranks,
                          item.bytes.count, item.start, item.skew, item.own,
                          item.end_skew, item.last_rank});
  }
  return table;
}

// How many ranks a kind of oddity was seen in, as " in 2 of 8 ranks".
std::string WhereText(const DoctorReport& report, const DiagnosticKind& kind) {
  if (report.ranks.size() < 2 || report.diagnostics.count(kind) > 0) {
    return "";
  }
  const auto ranks = std::ranges::count_if(
      report.ranks,
      [&](const RankReport& rank) { return rank.diagnostics.count(kind) > 0; });
  return fmt::format(" in {} of {} ranks", ranks, report.ranks.size());
}

std::string OddityText(const Diagnostic& diagnostic, std::string_view where) {
  std::vector<std::string> examples;
  for (const std::string& example : diagnostic.examples) {
    if (!std::ranges::count(examples, Printable(example))) {
      examples.push_back(Printable(example));
    }
  }
  return fmt::format(
      "{} ({}, {}{}): {}{}; advice: {}", diagnostic.kind.name,
      diagnostic.kind.severity == Severity::kInfo ? "info" : "warning",
      WithThousands(diagnostic.count), where, diagnostic.kind.what,
      examples.empty() ? "" : fmt::format(", e.g. {}", Join(examples, "; ")),
      diagnostic.kind.advice);
}

void AddOddities(const DoctorReport& report, Doc& doc) {
  Diagnostics all = report.diagnostics;
  for (const RankReport& rank : report.ranks) {
    all.Merge(rank.diagnostics);
  }
  if (all.list().empty()) {
    doc.blocks.emplace_back(Text{.text = "nothing odd"});
  }
  for (const Severity severity : {Severity::kWarning, Severity::kInfo}) {
    for (const Diagnostic& diagnostic : all.list()) {
      if (diagnostic.kind.severity == severity) {
        doc.blocks.emplace_back(Text{
            .title = "what is odd, and what to do about it",
            .text =
                OddityText(diagnostic, WhereText(report, diagnostic.kind))});
      }
    }
  }
}

}  // namespace

Doc DoctorDoc(const DoctorReport& report) {
  const bool job = report.one_job && report.ranks.size() > 1;
  Doc doc;
  doc.title = job ? JobTitle(report) : FilesTitle(report);
  doc.verdict = DoctorVerdict(report);
  doc.verdict_key = "summary";
  doc.blocks.emplace_back(VerdictFacts(report.verdict));
  if (job) {
    AddJob(report, doc);
  }
  Group ranks{.key = "ranks",
              .readers = job ? Readers::kPrograms : Readers::kAll};
  for (const RankReport& rank : report.ranks) {
    ranks.items.push_back(std::make_shared<const Doc>(RankBlocks(rank)));
  }
  doc.blocks.emplace_back(std::move(ranks));
  doc.blocks.emplace_back(
      Facts{{{.key = "collectives_step"},
             report.collectives_step ? Value(*report.collectives_step)
                                     : Value(nullptr)}});
  doc.blocks.emplace_back(CollectiveRows(report));
  if (job) {
    Doc coverage;
    AddCoverage(AllCoverage(report), coverage);
    for (Block& block : coverage.blocks) {
      std::get<Table>(block).key.clear();  // Programs have it by rank.
      doc.blocks.push_back(std::move(block));
    }
  }
  doc.blocks.emplace_back(DiagnosticTable(report.diagnostics));
  AddOddities(report, doc);
  return doc;
}

namespace {

template <typename Items>
int64_t CountStarted(const Items& items) {
  return std::ranges::count_if(items, [](const auto& item) {
    return ir::StartOf(item.measured).has_value();
  });
}

}  // namespace

FileFacts FactsOf(const trace::TraceInfo& info) {
  return {.path = info.path,
          .format = info.format,
          .dialect = info.dialect,
          .schema = info.schema,
          .text_bytes = info.text_bytes};
}

ExecutionFacts FactsOf(const trace::ExecutionTrace& trace) {
  ExecutionFacts facts;
  std::set<int64_t> threads;
  for (const trace::ExecutionNode& node : trace.nodes) {
    switch (node.kind) {
      case trace::NodeKind::kRoot:
        break;
      case trace::NodeKind::kAnnotation:
        ++facts.annotations;
        break;
      case trace::NodeKind::kDevice:
        ++facts.device_nodes;
        break;
      case trace::NodeKind::kOp:
        ++facts.ops;
        facts.ops_with_shapes +=
            node.arguments.dims != StringPool::kEmpty ? 1 : 0;
        threads.insert(node.thread);
        break;
    }
  }
  facts.threads_with_ops = static_cast<int64_t>(threads.size());
  return facts;
}

GraphFacts FactsOf(const ir::Graph& graph) {
  const ir::GraphData& data = graph.data();
  return {.ranks = data.ranks.size(),
          .threads = data.threads.size(),
          .streams = data.streams.size(),
          .ops = data.ops.size(),
          .calls = data.calls.size(),
          .activities = data.activities.size(),
          .measured_ops = CountStarted(data.ops),
          .measured_activities = CountStarted(data.activities),
          .collectives = data.collectives.size()};
}

PairingFacts FactsOf(const trace::Pairing& pairing,
                     const trace::ProfilerTrace& trace) {
  PairingFacts facts{.compared_shapes = pairing.compared_shapes,
                     .different_shapes = pairing.different_shapes};
  for (const trace::PairedThread& thread : pairing.threads) {
    std::string name;
    if (thread.matches > 0 && thread.trace_thread < trace.threads.size()) {
      name = trace.threads[thread.trace_thread].thread;
    }
    facts.threads.push_back({.execution_thread = thread.execution_thread,
                             .trace_thread = std::move(name),
                             .nodes = thread.nodes,
                             .matches = thread.matches});
  }
  return facts;
}

namespace {

// Nothing if some work of the collective has no time.
std::optional<CollectiveFacts> MatchedFacts(
    const ir::GraphData& graph, const ir::MatchedCollective& matched) {
  CollectiveFacts facts{
      .kind = matched.kind,
      .ranks = static_cast<int64_t>(matched.activities.size())};
  Duration first_start = Duration::max();
  Duration last_start = Duration::min();
  Duration first_end = Duration::max();
  Duration last_end = Duration::min();
  for (const ir::ActivityId id : matched.activities) {
    const ir::Activity& activity = graph.activities[id];
    if (!StartOf(activity.measured) || !activity.stream.valid()) {
      return std::nullopt;
    }
    const ir::Rank& rank = graph.ranks[graph.streams[activity.stream].rank];
    if (!StartOf(rank.step)) {
      return std::nullopt;
    }
    const Duration start = *rank.step->start + *activity.measured->start;
    const Duration end = start + activity.measured->duration;
    if (start > last_start) {
      last_start = start;
      facts.last_rank = rank.number;
    }
    first_start = std::min(first_start, start);
    first_end = std::min(first_end, end);
    last_end = std::max(last_end, end);
    if (const auto* shape =
            std::get_if<ir::Collective>(&graph.shapes[activity.shape])) {
      facts.bytes = std::max(facts.bytes, shape->bytes);
    }
  }
  facts.start = first_start;
  facts.skew = last_start - first_start;
  facts.own = last_end - last_start;
  facts.end_skew = last_end - first_end;
  return facts;
}

}  // namespace

std::vector<CollectiveFacts> FindCollectiveFacts(const ir::Graph& graph) {
  std::vector<CollectiveFacts> list;
  for (const ir::MatchedCollective& matched : graph.data().collectives) {
    if (matched.activities.size() < 2) {
      continue;
    }
    if (auto facts = MatchedFacts(graph.data(), matched)) {
      list.push_back(*facts);
    }
  }
  std::ranges::stable_sort(list, {}, [](const CollectiveFacts& facts) {
    return facts.start + facts.skew;
  });
  return list;
}

namespace {

// What the doctor itself finds odd, in addition to what the readers count.

constexpr DiagnosticKind kNoTimes{
    .name = "no-times",
    .what = "no GPU activity has a measured start, as in most execution traces",
    .advice = "also give the profiler trace of the same run"};
constexpr DiagnosticKind kUnclassified{
    .name = "unclassified-kernels",
    .what = "kernels whose name no rule knows; only their time is used",
    .advice = "add the names to a rule file and give it with --rules"};
constexpr DiagnosticKind kNoGraph{.name = "no-graph",
                                  .what = "no execution graph can be built",
                                  .advice = "see the example"};

constexpr DiagnosticKind kNoOrder{.name = "no-order",
                                  .what = "the step cannot be simulated",
                                  .advice = "see the example"};

using trace::LinkedTrace;
using trace::RankTrace;

constexpr size_t kExampleWidth = 100;

// The devices that some event names; all of them if none does.
std::vector<trace::DeviceInfo> UsedDevices(const LinkedTrace& linked) {
  std::set<int64_t> used;
  for (const trace::DeviceEvent& event : linked.trace.device_events) {
    used.insert(event.device);
  }
  std::vector<trace::DeviceInfo> devices = linked.trace.info.devices;
  const auto unused = [&](const trace::DeviceInfo& device) {
    return !used.contains(device.number);
  };
  if (!std::ranges::all_of(devices, unused)) {
    std::erase_if(devices, unused);
  }
  return devices;
}

// Takes what the file says about the job; the first file that says it counts.
void AddInfo(const trace::TraceInfo& info, RankReport& report) {
  report.files.push_back(FactsOf(info));
  report.rank_recorded = report.rank_recorded || info.rank.has_value();
  if (!report.world_size) {
    report.world_size = info.world_size;
  }
  if (report.backend.empty()) {
    report.backend = info.backend;
  }
}

trace::Coverage CoverageOf(const LinkedTrace& linked,
                           const trace::Classification& classified) {
  std::vector<trace::TimedShape> activities;
  const auto& events = linked.trace.device_events;
  activities.reserve(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    const trace::DeviceEvent& event = events[i];
    activities.push_back({.name = linked.trace.strings.view(event.name),
                          .shape = &classified.of(i),
                          .time = event.duration});
  }
  return trace::FindCoverage(activities);
}

trace::Coverage CoverageOf(const ir::Graph& graph) {
  std::vector<trace::TimedShape> activities;
  for (const ir::Activity& activity : graph.data().activities) {
    activities.push_back(
        {.name = graph.text(activity.name),
         .shape = &graph.data().shapes[activity.shape],
         .time = activity.measured ? activity.measured->duration : Duration{}});
  }
  return trace::FindCoverage(activities);
}

struct Lack {
  DiagnosticKind kind;
  std::string_view what;
};

// What each diagnostic means for the verdict.
constexpr Lack kLacks[] = {{trace::kNoHostOps, "host ops"},
                           {trace::kNoDeviceEvents, "device work"},
                           {trace::kHostOnly, "device work"},
                           {trace::kCompiledKernels, "compiled kernels"},
                           {kNoTimes, "times"},
                           {trace::kNoSteps, "step marks"},
                           {trace::kNoShapes, "shapes"},
                           {kNoGraph, "an order that makes a graph"},
                           {kNoOrder, "an order without dependency cycles"}};

void AddMissing(const Diagnostics& diagnostics, InputVerdict& verdict) {
  for (const Lack& lack : kLacks) {
    if (diagnostics.count(lack.kind) > 0) {
      verdict.missing.emplace_back(lack.what);
    }
  }
  const int64_t ranks = diagnostics.count(trace::kMissingRanks);
  if (ranks > 0) {
    verdict.missing.push_back(
        fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"));
  }
}

// `graph` are the facts of a graph or execution trace, given without
// a profiler trace.
InputVerdict Judge(const RankReport& report,
                   const std::optional<GraphFacts>& graph) {
  InputVerdict verdict;
  if (report.trace) {
    verdict.host_only = report.diagnostics.count(trace::kHostOnly) > 0;
    verdict.replay = report.trace->ops + report.trace->runtime_calls > 0 &&
                     !report.trace->steps.empty();
  } else if (graph) {
    verdict.replay = graph->measured_ops > 0 && graph->measured_activities > 0;
  }
  verdict.prediction =
      report.coverage.activities > 0 && report.diagnostics.count(kNoOrder) == 0;
  verdict.other_gpus = verdict.prediction && !verdict.host_only &&
                       report.coverage.sized_share() >= kSizedEnough &&
                       report.diagnostics.count(kNoOrder) == 0 &&
                       report.diagnostics.count(trace::kCompiledKernels) == 0;
  AddMissing(report.diagnostics, verdict);
  return verdict;
}

// Whether kernels or copies are in the graph: processors that talk to each
// other record collectives and nothing else.
bool RunsOnDevice(const ir::GraphData& data) {
  return std::ranges::any_of(data.activities, [](const ir::Activity& activity) {
    return activity.kind != ir::ActivityKind::kCollective;
  });
}

// What replay and predict would do with the step: they ask the same.
void JudgeStep(const ir::Graph& graph, bool ordered, InputVerdict& verdict) {
  const ir::GraphData& data = graph.data();
  verdict.replay = ordered && engine::CheckReplayable(data).has_value();
  verdict.prediction =
      ordered && (graph.is_timed() ? verdict.replay && RunsOnDevice(data)
                                   : !data.activities.empty());
}

void ExamineProfiler(const RankTrace& rank, const trace::Rules& rules,
                     RankReport& report) {
  AddInfo(rank.profiler->trace.info, report);
  report.devices = UsedDevices(*rank.profiler);
  const auto classified = trace::ClassifyAll(rank, rules);
  report.trace = trace::FindTraceFacts(*rank.profiler, classified);
  report.coverage = CoverageOf(*rank.profiler, classified);
  if (rank.pairing) {
    report.pairing = FactsOf(*rank.pairing, rank.profiler->trace);
  }
}

// Why a prediction would refuse the graph, whatever its times; empty if not.
std::string OrderError(const ir::Graph& graph) {
  const ir::GraphData& data = graph.data();
  const timeline::ActivityTimes times = timeline::UniformTimes(
      data, IdVector<ir::ActivityId, Duration>(data.activities.size()), {});
  const auto lowered = timeline::Lower(
      graph, timeline::PredictedPlan(graph, cost::OverheadTable({})), times,
      {});
  return lowered ? std::string{} : lowered.error().message;
}

// Of a rank without a profiler trace: what its graph holds.
std::optional<GraphFacts> ExamineGraph(const RankTrace& rank,
                                       const trace::Rules& rules,
                                       RankReport& report) {
  Diagnostics ignored;
  const auto graph = trace::BuildGraph(std::span(&rank, 1), rules, {}, ignored);
  if (!graph) {
    return std::nullopt;
  }
  report.coverage = CoverageOf(*graph);
  const GraphFacts facts = FactsOf(*graph);
  if (facts.measured_activities == 0) {
    report.diagnostics.Add(kNoTimes);
  }
  if (const std::string error = OrderError(*graph); !error.empty()) {
    report.diagnostics.Add(kNoOrder, error);
  }
  return facts;
}

RankReport DiagnoseRank(const RankTrace& rank, const trace::Rules& rules) {
  RankReport report{.rank = rank.rank, .diagnostics = RankDiagnostics(rank)};
  std::optional<GraphFacts> graph;
  if (rank.profiler) {
    ExamineProfiler(rank, rules, report);
  } else {
    graph = ExamineGraph(rank, rules, report);
  }
  if (rank.execution) {
    AddInfo(rank.execution->info, report);
    report.execution = FactsOf(*rank.execution);
  }
  if (rank.graph) {
    report.files.push_back(
        {.path = rank.paths.empty() ? "" : rank.paths.front(),
         .format = "graph"});
    report.graph = graph;
  }
  for (const trace::UnknownKernel& kernel : report.coverage.unknown) {
    report.diagnostics.Add(kUnclassified,
                           ElideMiddle(Printable(kernel.name), kExampleWidth));
    report.diagnostics.Add(kUnclassified, {}, kernel.count - 1);
  }
  report.verdict = Judge(report, graph);
  return report;
}

bool AreRanksOfOneJob(const trace::Loaded& loaded) {
  std::set<int64_t> seen;
  return std::ranges::all_of(loaded.ranks, [&](const RankTrace& rank) {
    return !rank.graph && seen.insert(rank.rank).second;
  });
}

void JudgeAll(DoctorReport& report) {
  report.verdict = {.replay = true, .prediction = true, .other_gpus = true};
  for (const RankReport& rank : report.ranks) {
    report.verdict.replay = report.verdict.replay && rank.verdict.replay;
    report.verdict.host_only =
        report.verdict.host_only || rank.verdict.host_only;
    report.verdict.prediction =
        report.verdict.prediction && rank.verdict.prediction;
    report.verdict.other_gpus =
        report.verdict.other_gpus && rank.verdict.other_gpus;
  }
  if (report.step) {
    report.verdict.replay = report.step->replay;
    report.verdict.prediction = report.step->prediction;
  } else if (report.one_job || report.ranks.size() > 1) {
    report.verdict.replay = report.verdict.prediction = false;
  }
  report.verdict.other_gpus =
      report.verdict.other_gpus && report.verdict.prediction;
  Diagnostics all = report.diagnostics;
  for (const RankReport& rank : report.ranks) {
    all.Merge(rank.diagnostics);
  }
  AddMissing(all, report.verdict);
}

}  // namespace

Diagnostics RankDiagnostics(const RankTrace& rank) {
  const bool has_matches =
      rank.pairing &&
      std::ranges::any_of(rank.pairing->threads, [](const auto& thread) {
        return thread.matches > 0;
      });
  Diagnostics kept;
  for (const Diagnostic& item : rank.diagnostics.list()) {
    if (has_matches && item.kind.name == trace::kNoShapes.name) {
      continue;
    }
    // One by one with an example each, then those without.
    for (const std::string& example : item.examples) {
      kept.Add(item.kind, example);
    }
    kept.Add(item.kind, {},
             item.count - static_cast<int64_t>(item.examples.size()));
  }
  return kept;
}

DoctorReport Diagnose(const trace::Loaded& loaded, const trace::Rules& rules,
                      size_t threads) {
  DoctorReport report{.ranks = std::vector<RankReport>(loaded.ranks.size()),
                      .one_job = AreRanksOfOneJob(loaded),
                      .diagnostics = loaded.diagnostics};
  ParallelFor(loaded.ranks.size(), threads, [&](size_t i) {
    report.ranks[i] = DiagnoseRank(loaded.ranks[i], rules);
  });
  if (report.one_job) {
    const auto graph =
        trace::BuildGraph(loaded.ranks, rules, {}, report.diagnostics);
    if (graph) {
      report.collectives = FindCollectiveFacts(*graph);
      report.collectives_step =
          trace::StepNumber(loaded.ranks, std::nullopt).value_or(std::nullopt);
      const bool reported =
          std::ranges::any_of(report.ranks, [](const RankReport& rank) {
            return rank.diagnostics.count(kNoOrder) > 0;
          });
      const std::string error = OrderError(*graph);
      if (!error.empty() && !reported) {
        report.diagnostics.Add(kNoOrder, error);
      }
      report.step.emplace();
      JudgeStep(*graph, error.empty(), *report.step);
    } else {
      report.graph_error = graph.error().message;
      report.diagnostics.Add(kNoGraph, graph.error().message);
    }
  }
  JudgeAll(report);
  return report;
}

}  // namespace stepcast::view
