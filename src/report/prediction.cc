#include "report/prediction.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/path_parts.h"

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
                                  PredictionSubject subject) {
  PredictionReport report;
  report.subject = std::move(subject);
  report.step = result.step;
  report.interval = result.interval;
  report.ranks = result.accounts;
  report.slowest = result.slowest_account();
  report.critical_path = SummarizePath(result, engine::PathInStep(result));
  report.coverage = result.works.coverage;
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

}  // namespace stepcast::report
