#include "report/whatif.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "report/model_report.h"

namespace stepcast::report {
namespace {

using PathKey = std::pair<engine::PathKind, std::string>;

std::map<PathKey, Duration> PathTimes(const whatif::Case& subject) {
  std::map<engine::PathSubject, Duration> by_subject;
  for (const engine::PathPart& part : engine::PathInStep(subject.result)) {
    by_subject[part.subject] += part.end - part.begin;
  }
  std::map<PathKey, Duration> times;
  for (const auto& [key, time] : by_subject) {
    times[{key.kind, Text(*subject.result.graph, key)}] += time;
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
  if (subject.model != nullptr) {
    return ReportModel(subject.job->request, *subject.model, subject.result);
  }
  const bool measured = subject.result.graph->is_timed();
  return ReportPrediction(
      subject.result,
      {.workload = name,
       .platform = subject.machine.platform,
       .gpu =
           subject.machine.gpu.empty() ? "an unknown GPU" : subject.machine.gpu,
       .num_gpus =
           static_cast<int64_t>(subject.result.graph->data().ranks.size()),
       .overheads = measured ? "measured" : "shared",
       .window = measured ? "the recorded step, replayed" : "steady step"});
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

}  // namespace stepcast::report
