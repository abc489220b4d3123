// Predicts a recorded step: as it would repeat, where it has times; with kernel
// times from models and the host's from a set of overheads, where it has none.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/predict_step.h"
#include "api/workload.h"
#include "engine/explain/kernel_rates.h"
#include "scenario/resolve.h"
#include "view/reports/breakdown.h"
#include "view/reports/whatif.h"

namespace stepcast::api {

Result<Predicted> PredictTrace(const scenario::Scenario& scenario,
                               const Options& how) {
  if (!scenario.platform.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "platform means nothing for a predicted recording: what its "
                "servers add to a collective is not known; predict its model "
                "there");
  }
  auto keeper = std::make_shared<scenario::Resolver>(ResolverOf(scenario));
  ASSIGN_OR_RETURN(whatif::Case subject, LoadCase(scenario, *keeper, how));
  RETURN_IF_ERROR(keeper->store().CheckProfiles());
  const ir::Graph& graph = *subject.result.graph;
  // Processors that talk to each other record collectives and nothing else.
  const bool has_kernels = std::ranges::any_of(
      graph.data().activities, [](const ir::Activity& activity) {
        return activity.kind != ir::ActivityKind::kCollective;
      });
  if (graph.is_timed() && !has_kernels) {
    return Fail(ErrorCode::kUnsupported,
                "the recording has no device work, so it says nothing about a "
                "GPU; expected a step recorded on one, or an execution trace "
                "(replay, whatif and compare tell of the host alone)");
  }
  view::PredictionReport report =
      view::ReportCase(subject, scenario.workload.front());
  if (graph.is_timed() && subject.machine.device) {
    ASSIGN_OR_RETURN(report.models,
                     keeper->store().Kernels(subject.machine.device));
    report.limits.kernels = engine::BoundsOf(
        engine::RateKernels(subject.result, {.models = report.models}),
        *report.models);
  }
  if (how.details) {
    report.ops = view::SumOps(subject.result);
  }
  report.notes.insert(report.notes.end(), subject.notes.begin(),
                      subject.notes.end());
  const Result<std::string> recorded = RecordedGpu(graph);
  if (scenario.gpu.empty() && recorded) {
    report.notes.push_back(
        fmt::format("recorded as '{}', taken for {}",
                    graph.text(graph.data().ranks.begin()->gpu), *recorded));
  } else if (graph.is_timed() && !recorded) {
    report.notes.push_back(
        scenario.gpu.empty()
            ? "the recording does not name a GPU we know: its kernels keep "
              "their time"
            : fmt::format("the recording does not name a GPU we know: taken "
                          "as recorded on {}, its kernels keep their time",
                          scenario.gpu));
  }
  return Predicted{.resolver = std::move(keeper),
                   .result = std::move(subject.result),
                   .report = std::move(report)};
}

}  // namespace stepcast::api
