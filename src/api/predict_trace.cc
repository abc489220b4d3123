// Predicts a recorded step: as it would repeat, where it has times; with kernel
// times from models and the host's from a set of overheads, where it has none.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/predict_step.h"
#include "api/workload.h"
#include "base/text/join.h"
#include "engine/explain/kernel_rates.h"
#include "engine/explain/path_parts.h"
#include "scenario/resolve.h"
#include "view/reports/breakdown.h"
#include "view/reports/whatif.h"

namespace stepcast::api {
namespace {

// Activities that nothing has a price for take no time; what they are, so that
// nobody takes them for free. Empty if there are none.
std::string UnpricedNote(const engine::StepResult& result) {
  constexpr size_t kMostNames = 4;
  const ir::GraphData& data = result.graph->data();
  std::map<std::string, size_t> names;
  size_t count = 0;
  for (const ir::ActivityId id : data.activities.ids()) {
    if (result.activities.prices[id].p50_us <= 0 &&
        !data.activities[id].measured) {
      ++names[engine::ShortActivityName(
          result.graph->text(data.activities[id].name))];
      ++count;
    }
  }
  if (count == 0) {
    return "";
  }
  std::vector<std::pair<size_t, std::string>> most;
  most.reserve(names.size());
  for (const auto& [name, times] : names) {
    most.emplace_back(times, name);
  }
  std::ranges::stable_sort(most, std::greater<>(),
                           [](const auto& item) { return item.first; });
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(most.size(), kMostNames); ++i) {
    texts.push_back(fmt::format("{} x {}", most[i].first, most[i].second));
  }
  if (most.size() > kMostNames) {
    texts.emplace_back("others");
  }
  return fmt::format(
      "{} of {} activities have no known sizes and take no time: {}", count,
      data.activities.size(), Join(texts, ", "));
}

}  // namespace

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
  if (std::string note = UnpricedNote(subject.result); !note.empty()) {
    report.notes.push_back(std::move(note));
  }
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
