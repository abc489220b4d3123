#include "report/doctor.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text_table.h"
#include "cost/overheads/predicted_plan.h"
#include "ingest/build_graph.h"
#include "ingest/classify_all.h"
#include "ingest/oddities.h"
#include "ingest/step_number.h"
#include "lower/lower.h"
#include "report/oddities.h"

namespace stepcast::report {
namespace {

using ingest::LinkedTrace;
using ingest::RankTrace;

constexpr size_t kExampleWidth = 100;

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
  report.rank_recorded = report.rank_recorded || info.rank.has_value();
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

struct Lack {
  DiagnosticKind kind;
  std::string_view what;
};

// What each diagnostic means for the verdict.
constexpr Lack kLacks[] = {{ingest::kNoHostOps, "host ops"},
                           {ingest::kNoDeviceEvents, "device work"},
                           {ingest::kHostOnly, "device work"},
                           {kNoTimes, "times"},
                           {ingest::kNoSteps, "step marks"},
                           {ingest::kNoShapes, "shapes"},
                           {kNoGraph, "an order that makes a graph"},
                           {kNoOrder, "an order without circles"}};

void AddMissing(const Diagnostics& diagnostics, InputVerdict& verdict) {
  for (const Lack& lack : kLacks) {
    if (diagnostics.count(lack.kind) > 0) {
      verdict.missing.emplace_back(lack.what);
    }
  }
  const int64_t ranks = diagnostics.count(ingest::kMissingRanks);
  if (ranks > 0) {
    verdict.missing.push_back(
        fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"));
  }
}

// `graph` are the facts of a graph or execution trace, which has no profiler
// trace beside it.
InputVerdict Judge(const RankReport& report,
                   const std::optional<GraphFacts>& graph) {
  InputVerdict verdict;
  if (report.trace) {
    verdict.host_only = report.diagnostics.count(ingest::kHostOnly) > 0;
    verdict.replay = report.trace->ops > 0 && !report.trace->steps.empty() &&
                     (verdict.host_only || report.trace->device_events() > 0);
  } else if (graph) {
    verdict.replay = graph->measured_ops > 0 && graph->measured_works > 0;
  }
  verdict.prediction = report.coverage.works > 0 &&
                       report.coverage.sized_share() >= kSizedEnough &&
                       report.diagnostics.count(kNoOrder) == 0;
  AddMissing(report.diagnostics, verdict);
  return verdict;
}

void ExamineProfiler(const RankTrace& rank, const ingest::Rules& rules,
                     RankReport& report) {
  AddInfo(rank.profiler->trace.info, report);
  report.devices = UsedDevices(*rank.profiler);
  const auto classified = ingest::ClassifyAll(rank, rules);
  report.trace = FindTraceFacts(*rank.profiler, classified);
  report.coverage = CoverageOf(*rank.profiler, classified);
  if (rank.pairing) {
    report.pairing = FactsOf(*rank.pairing, rank.profiler->trace);
  }
}

// Why a prediction would refuse the graph, whatever its times; empty if not.
std::string OrderError(const ir::Graph& graph) {
  const ir::GraphData& data = graph.data();
  const lower::WorkTimes times = lower::UniformTimes(
      data, IdVector<ir::WorkId, Duration>(data.works.size()), {});
  const auto lowered = lower::Lower(
      graph, cost::PredictedPlan(graph, cost::OverheadTable({})), times, {});
  return lowered ? std::string{} : lowered.error().message;
}

// Of a rank without a profiler trace: what its graph holds.
std::optional<GraphFacts> ExamineGraph(const RankTrace& rank,
                                       const ingest::Rules& rules,
                                       RankReport& report) {
  Diagnostics ignored;
  const auto graph =
      ingest::BuildGraph(std::span(&rank, 1), rules, {}, ignored);
  if (!graph) {
    return std::nullopt;
  }
  report.coverage = CoverageOf(*graph);
  const GraphFacts facts = FactsOf(*graph);
  if (facts.measured_works == 0) {
    report.diagnostics.Add(kNoTimes);
  }
  if (const std::string error = OrderError(*graph); !error.empty()) {
    report.diagnostics.Add(kNoOrder, error);
  }
  return facts;
}

RankReport DiagnoseRank(const RankTrace& rank, const ingest::Rules& rules) {
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
  for (const UnknownKernel& kernel : report.coverage.unknown) {
    report.diagnostics.Add(kUnclassified,
                           ElideMiddle(Printable(kernel.name), kExampleWidth));
    report.diagnostics.Add(kUnclassified, {}, kernel.count - 1);
  }
  report.verdict = Judge(report, graph);
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
    report.verdict.host_only =
        report.verdict.host_only || rank.verdict.host_only;
    report.verdict.prediction =
        report.verdict.prediction && rank.verdict.prediction;
  }
  report.verdict.replay = report.verdict.replay && report.graph_error.empty();
  report.verdict.prediction = report.verdict.prediction &&
                              report.graph_error.empty() &&
                              report.diagnostics.count(kNoOrder) == 0;
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
    if (has_matches && item.kind.name == ingest::kNoShapes.name) {
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
          ingest::StepNumber(loaded.ranks, std::nullopt).value_or(std::nullopt);
      const bool told =
          std::ranges::any_of(report.ranks, [](const RankReport& rank) {
            return rank.diagnostics.count(kNoOrder) > 0;
          });
      if (const std::string error = told ? "" : OrderError(*graph);
          !error.empty()) {
        report.diagnostics.Add(kNoOrder, error);
      }
    } else {
      report.graph_error = graph.error().message;
      report.diagnostics.Add(kNoGraph, graph.error().message);
    }
  }
  JudgeAll(report);
  return report;
}

}  // namespace stepcast::report
