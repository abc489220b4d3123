#include "report/prediction.h"

#include <algorithm>

#include <fmt/format.h>

namespace stepcast::report {
namespace {

void FillOverheads(const cost::OverheadCoverage& coverage,
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
    report.guessed_overheads.emplace_back(name, share.time);
  }
  std::ranges::stable_sort(
      report.guessed_overheads,
      [](const auto& a, const auto& b) { return a.second > b.second; });
}

}  // namespace

std::vector<engine::PathPart> PathInStep(const ir::Graph& graph,
                                         const engine::Prediction& prediction) {
  if (prediction.spans.empty()) {
    return {};
  }
  const engine::StepSpan span = prediction.spans[prediction.slowest()];
  std::vector<engine::PathPart> parts =
      engine::DescribePath(graph.data(), prediction.plan, prediction.lowered,
                           prediction.critical_path);
  for (engine::PathPart& part : parts) {
    part.begin = std::clamp(part.begin, span.begin, span.end);
    part.end = std::clamp(part.end, span.begin, span.end);
  }
  std::erase_if(parts, [](const engine::PathPart& part) {
    return part.begin == part.end;
  });
  return parts;
}

void PredictionReport::UseStep(Duration time) {
  step = time;
  if (subject.batch_per_gpu > 0 && step > Duration{}) {
    const double seconds = static_cast<double>(step.count()) / 1e9;
    samples_per_s =
        static_cast<double>(subject.batch_per_gpu * subject.num_gpus) / seconds;
  }
}

PredictionReport ReportPrediction(const ir::Graph& graph,
                                  const engine::Prediction& prediction,
                                  PredictionSubject subject) {
  PredictionReport report;
  report.subject = std::move(subject);
  report.step = prediction.step;
  report.interval = prediction.interval;
  report.ranks = prediction.accounts;
  if (!report.ranks.empty()) {
    report.slowest = report.ranks[prediction.slowest()];
  }
  report.critical_path =
      SummarizePath(graph, prediction.lowered, PathInStep(graph, prediction));
  report.algorithms.push_back({.name = "stepcast",
                               .step = report.step,
                               .gpu_active = report.slowest.gpu_active});
  report.coverage = prediction.works.coverage;
  FillOverheads(prediction.overheads, report);
  report.UseStep(prediction.step);
  if (prediction.plan.unplaced > 0) {
    report.notes.push_back(
        fmt::format("ops and calls without a time are left out: {}",
                    prediction.plan.unplaced));
  }
  for (const ir::Rank& rank : graph.data().ranks) {
    if (rank.step) {
      report.measured.push_back(
          {.rank = rank.number, .step = rank.step->duration});
    }
  }
  return report;
}

}  // namespace stepcast::report
