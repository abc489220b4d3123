// The embedding kernels of recorded DLRM steps.
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tests/accuracy/anchors.h"
#include "trace/build/build_graph.h"
#include "trace/classify/rules.h"
#include "trace/read/load.h"

namespace stepcast::accuracy {
namespace {

constexpr double kLookupsLimitPct = 20;

struct Recording {
  std::string_view name;
  std::string_view folder;
  std::string_view device;
};
constexpr std::array kRecordings = {
    Recording{.name = "PARAM, 8 V100s",
              .folder = "dlrm_param_8xV100",
              .device = "v100-sxm-32gb"},
    Recording{.name = "HTA, a V100",
              .folder = "dlrm_hta_V100_rank1of2",
              .device = "v100-sxm-16gb"},
};

// Only what belongs to the run itself; a third party's merge of both files is
// next to them.
std::vector<std::filesystem::path> PathsOf(const Recording& recording,
                                           const Setting& setting) {
  const std::filesystem::path folder =
      setting.data / "traces" / recording.folder;
  if (std::filesystem::exists(folder / "kineto")) {
    return {folder / "kineto", folder / "et"};
  }
  return {folder};
}

double MicrosecondsOf(Duration duration) {
  return static_cast<double>(duration.count()) / 1e3;
}

// The sums of one step over all ranks.
struct Lookups {
  Sample forward;
  Sample backward;
  size_t unsized = 0;
};

Result<Lookups> SumLookups(const ir::Graph& graph,
                           const cost::KernelModels& models) {
  Lookups lookups;
  const ir::GraphData& data = graph.data();
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::KernelShape& shape = graph.shape(id);
    const auto* bag = std::get_if<ir::EmbeddingBag>(&shape);
    if (bag == nullptr || !data.activities[id].measured) {
      continue;
    }
    if (!ir::IsSized(shape)) {
      ++lookups.unsized;
      continue;
    }
    ASSIGN_OR_RETURN(
        const Sample sample,
        Price("", {&shape, 1},
              MicrosecondsOf(data.activities[id].measured->duration), models));
    Sample& sum =
        bag->pass == ir::Pass::kForward ? lookups.forward : lookups.backward;
    sum.measured_us += sample.measured_us;
    sum.predicted_us += sample.predicted_us;
    sum.formula_us += sample.formula_us;
  }
  return lookups;
}

// The numbers of the steps that the first rank recorded.
std::vector<int64_t> StepsOf(const trace::Loaded& loaded) {
  std::vector<int64_t> numbers;
  for (const trace::Step& step : loaded.ranks.front().profiler->steps) {
    numbers.push_back(step.number);
  }
  return numbers;
}

Sample SumOf(const Sample& a, const Sample& b) {
  return {.label = "",
          .measured_us = a.measured_us + b.measured_us,
          .predicted_us = a.predicted_us + b.predicted_us,
          .formula_us = a.formula_us + b.formula_us};
}

}  // namespace

Result<std::vector<Comparison>> CompareTracedLookups(const Setting& setting) {
  ASSIGN_OR_RETURN(const trace::Rules rules, trace::Rules::Load());
  std::vector<Sample> steps;
  std::vector<Sample> passes;
  size_t unsized = 0;
  for (const Recording& recording : kRecordings) {
    const auto paths = PathsOf(recording, setting);
    ASSIGN_OR_RETURN(const trace::Loaded loaded, trace::Load(paths, rules));
    ASSIGN_OR_RETURN(const cost::KernelModels models,
                     LoadModels(recording.device, setting));
    for (const int64_t step : StepsOf(loaded)) {
      Diagnostics diagnostics;
      ASSIGN_OR_RETURN(
          const ir::Graph graph,
          trace::BuildGraph(loaded.ranks, rules, {.step = step}, diagnostics));
      ASSIGN_OR_RETURN(Lookups lookups, SumLookups(graph, models));
      const std::string label =
          fmt::format("{}, step {}", recording.name, step);
      Sample sum = SumOf(lookups.forward, lookups.backward);
      sum.label = label;
      lookups.forward.label = label + " forward";
      lookups.backward.label = label + " backward";
      unsized += lookups.unsized;
      steps.push_back(std::move(sum));
      passes.push_back(std::move(lookups.forward));
      passes.push_back(std::move(lookups.backward));
    }
  }
  const auto empty = [](const Sample& sample) {
    return sample.measured_us <= 0;
  };
  std::erase_if(steps, empty);
  std::erase_if(passes, empty);
  std::vector<Comparison> comparisons = {
      Compare("embedding kernels of recorded DLRM steps", Metric::kWorst,
              kLookupsLimitPct, std::move(steps)),
      Compare("the same, forward and backward apart", Metric::kWorst,
              kLookupsLimitPct, std::move(passes))};
  comparisons.front().note = fmt::format(
      "{} kernels whose sizes the trace does not show are left "
      "out.",
      unsized);
  return comparisons;
}

}  // namespace stepcast::accuracy
