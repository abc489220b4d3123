#include "report/doctor.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/parallel.h"
#include "base/text_table.h"
#include "ingest/build_graph.h"
#include "ingest/classify_all.h"
#include "ingest/oddities.h"
#include "report/oddities.h"
#include "report/step_number.h"

namespace stepcast::report {
namespace {

using ingest::ExecutionTrace;
using ingest::LinkedTrace;
using ingest::RankTrace;

constexpr size_t kNameWidth = 100;

FileFacts FactsOf(const ingest::TraceInfo& info) {
  return {.path = info.path,
          .format = info.format,
          .dialect = info.dialect,
          .schema = info.schema,
          .text_bytes = info.text_bytes};
}

// The devices that some event names; all of them if none does.
std::vector<ingest::DeviceInfo> UsedDevices(const LinkedTrace& linked) {
  std::set<int64_t> used;
  for (const ingest::DeviceEvent& event : linked.trace.device_events) {
    used.insert(event.device);
  }
  std::vector<ingest::DeviceInfo> devices = linked.trace.info.devices;
  const auto unused = [&](const ingest::DeviceInfo& device) {
    return !used.contains(device.number);
  };
  if (!std::ranges::all_of(devices, unused)) {
    std::erase_if(devices, unused);
  }
  return devices;
}

// Takes what the file says about the job; the first file that says it counts.
void AddInfo(const ingest::TraceInfo& info, RankReport& report) {
  report.files.push_back(FactsOf(info));
  if (!report.world_size) {
    report.world_size = info.world_size;
  }
  if (report.backend.empty()) {
    report.backend = info.backend;
  }
}

Coverage CoverageOf(const LinkedTrace& linked,
                    const ingest::Classification& classified) {
  std::vector<TimedShape> works;
  const auto& events = linked.trace.device_events;
  works.reserve(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    const ingest::DeviceEvent& event = events[i];
    works.push_back({.name = linked.trace.strings.view(event.name),
                     .shape = &classified.of(i),
                     .time = event.duration});
  }
  return FindCoverage(works);
}

Coverage CoverageOf(const ir::Graph& graph) {
  std::vector<TimedShape> works;
  for (const ir::Work& work : graph.data().works) {
    works.push_back(
        {.name = graph.text(work.name),
         .shape = &graph.data().shapes[work.shape],
         .time = work.measured ? work.measured->duration : Duration{}});
  }
  return FindCoverage(works);
}

ExecutionFacts FactsOf(const ExecutionTrace& trace) {
  ExecutionFacts facts;
  std::set<int64_t> threads;
  for (const ingest::ExecutionNode& node : trace.nodes) {
    switch (node.kind) {
      case ingest::NodeKind::kRoot:
        break;
      case ingest::NodeKind::kAnnotation:
        ++facts.annotations;
        break;
      case ingest::NodeKind::kDevice:
        ++facts.device_nodes;
        break;
      case ingest::NodeKind::kOp:
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
          .works = data.works.size(),
          .measured_works = std::ranges::count_if(
              data.works,
              [](const ir::Work& work) { return work.measured.has_value(); }),
          .collectives = data.collectives.size()};
}

PairingFacts FactsOf(const ingest::Pairing& pairing,
                     const ingest::ProfilerTrace& trace) {
  PairingFacts facts{.compared_shapes = pairing.compared_shapes,
                     .different_shapes = pairing.different_shapes};
  for (const ingest::PairedThread& thread : pairing.threads) {
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

bool HasMatches(const RankReport& report) {
  return report.pairing && std::ranges::any_of(report.pairing->threads,
                                               [](const ThreadPairing& thread) {
                                                 return thread.matches > 0;
                                               });
}

// All diagnostics of the rank but those that the other file makes up for.
Diagnostics KeepTrue(const RankTrace& rank, const RankReport& report) {
  Diagnostics kept;
  for (const Diagnostic& diagnostic : rank.diagnostics.list()) {
    if (diagnostic.kind.name == ingest::kNoShapes.name && HasMatches(report)) {
      continue;
    }
    // Add counts `count` and keeps one example; the rest are added with none.
    kept.Add(
        diagnostic.kind, {},
        diagnostic.count - static_cast<int64_t>(diagnostic.examples.size()));
    for (const std::string& example : diagnostic.examples) {
      kept.Add(diagnostic.kind, example);
    }
  }
  return kept;
}

struct Lack {
  DiagnosticKind kind;
  std::string_view what;
};

// What each diagnostic means for the verdict.
constexpr Lack kLacks[] = {{ingest::kNoHostOps, "host ops"},
                           {ingest::kNoDeviceEvents, "device work"},
                           {kNoTimes, "times"},
                           {ingest::kNoSteps, "step marks"},
                           {ingest::kNoShapes, "shapes"},
                           {ingest::kMissingRanks, "ranks"},
                           {kNoGraph, "an order that makes a graph"}};

void AddMissing(const Diagnostics& diagnostics, Verdict& verdict) {
  for (const Lack& lack : kLacks) {
    if (diagnostics.count(lack.kind) > 0 &&
        !std::ranges::count(verdict.missing, lack.what)) {
      verdict.missing.emplace_back(lack.what);
    }
  }
}

Verdict Judge(const RankReport& report) {
  Verdict verdict;
  if (report.trace) {
    verdict.replay = report.trace->ops > 0 &&
                     report.trace->device_events() > 0 &&
                     !report.trace->steps.empty();
  } else if (report.graph) {
    verdict.replay = report.graph->measured_works > 0;
  }
  verdict.prediction = report.coverage.works > 0 &&
                       report.coverage.sized_share() >= kSizedEnough;
  AddMissing(report.diagnostics, verdict);
  return verdict;
}

RankReport DiagnoseRank(const RankTrace& rank, const ingest::Rules& rules) {
  RankReport report{.rank = rank.rank};
  if (rank.profiler) {
    AddInfo(rank.profiler->trace.info, report);
    report.devices = UsedDevices(*rank.profiler);
    const auto classified = ingest::ClassifyAll(rank, rules);
    report.trace = FindTraceFacts(*rank.profiler, classified);
    report.coverage = CoverageOf(*rank.profiler, classified);
  }
  if (rank.execution) {
    AddInfo(rank.execution->info, report);
    report.execution = FactsOf(*rank.execution);
  }
  if (rank.pairing && rank.profiler) {
    report.pairing = FactsOf(*rank.pairing, rank.profiler->trace);
  }
  report.diagnostics = KeepTrue(rank, report);
  if (rank.graph) {
    report.files.push_back(
        {.path = rank.paths.empty() ? "" : rank.paths.front(),
         .format = "graph"});
    report.graph = FactsOf(*rank.graph);
    report.coverage = CoverageOf(*rank.graph);
  } else if (!rank.profiler) {
    report.diagnostics.Add(kNoTimes);
    Diagnostics ignored;
    const auto graph =
        ingest::BuildGraph(std::span(&rank, 1), rules, {}, ignored);
    if (graph) {
      report.coverage = CoverageOf(*graph);
    }
  }
  for (const UnknownKernel& kernel : report.coverage.unknown) {
    report.diagnostics.Add(kUnclassified,
                           ElideMiddle(Printable(kernel.name), kNameWidth));
    report.diagnostics.Add(kUnclassified, {}, kernel.count - 1);
  }
  report.verdict = Judge(report);
  return report;
}

bool AreRanksOfOneJob(const ingest::Loaded& loaded) {
  std::set<int64_t> seen;
  return std::ranges::all_of(loaded.ranks, [&](const RankTrace& rank) {
    return !rank.graph && seen.insert(rank.rank).second;
  });
}

void JudgeAll(DoctorReport& report) {
  report.verdict = {.replay = true, .prediction = true};
  for (const RankReport& rank : report.ranks) {
    report.verdict.replay = report.verdict.replay && rank.verdict.replay;
    report.verdict.prediction =
        report.verdict.prediction && rank.verdict.prediction;
  }
  report.verdict.replay = report.verdict.replay && report.graph_error.empty();
  Diagnostics all = report.diagnostics;
  for (const RankReport& rank : report.ranks) {
    all.Merge(rank.diagnostics);
  }
  AddMissing(all, report.verdict);
}

}  // namespace

DoctorReport Diagnose(const ingest::Loaded& loaded, const ingest::Rules& rules,
                      size_t threads) {
  DoctorReport report{.ranks = std::vector<RankReport>(loaded.ranks.size()),
                      .one_job = AreRanksOfOneJob(loaded),
                      .diagnostics = loaded.diagnostics};
  ParallelFor(loaded.ranks.size(), threads, [&](size_t i) {
    report.ranks[i] = DiagnoseRank(loaded.ranks[i], rules);
  });
  if (report.one_job) {
    const auto graph =
        ingest::BuildGraph(loaded.ranks, rules, {}, report.diagnostics);
    if (graph) {
      report.collectives = FindCollectiveFacts(*graph);
      report.collectives_step =
          StepNumber(loaded.ranks, std::nullopt).value_or(std::nullopt);
    } else {
      report.graph_error = graph.error().message;
      report.diagnostics.Add(kNoGraph, graph.error().message);
    }
  }
  JudgeAll(report);
  return report;
}

}  // namespace stepcast::report
