#include "view/reports/step_blocks.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/text_table.h"
#include "ir/shape.h"
#include "view/reports/breakdown.h"
#include "view/reports/text_parts.h"

namespace stepcast::view {
namespace {

constexpr size_t kMostKernels = 20;

// What bars show: a part of the step, and the class of the style sheet.
struct BarKind {
  std::string_view part{};
  std::string_view style{};
};

// Families with a colour of their own; "" is all other kernels.
constexpr std::array<BarKind, 11> kKernelKinds = {
    {{"gemm", "compute"},
     {"embedding", "embedding"},
     {"interaction", "interaction"},
     {"elementwise", "elementwise"},
     {"convolution", "convolution"},
     {"concat", "concat"},
     {"index", "index"},
     {"reduction", "reduction"},
     {"sort", "sort"},
     {"optimizer", "optimizer"},
     {"", "other"}}};
constexpr std::array<BarKind, 6> kOtherKinds = {
    {{"memcpy_exposed", "copy"},
     {"communication_exposed", "communication"},
     {"idle host", "idle-host"},
     {"idle launch", "idle-launch"},
     {"idle sync", "idle-sync"},
     {"idle wait_for_rank", "idle-rank"}}};
constexpr size_t kOtherKernelsKind = kKernelKinds.size() - 1;

size_t BarKindOf(std::string_view part) {
  for (size_t i = 0; i < kOtherKernelsKind; ++i) {
    if (kKernelKinds[i].part == part) {
      return i;
    }
  }
  for (size_t i = 0; i < kOtherKinds.size(); ++i) {
    if (kOtherKinds[i].part == part) {
      return kKernelKinds.size() + i;
    }
  }
  return kOtherKernelsKind;
}

struct ActivitySum {
  std::string_view family{};
  Duration time{};
  size_t count = 0;
  std::array<Duration, cost::kOriginCount> sources{};
};

}  // namespace

html::Bars PartBars(std::span<const NamedParts> steps) {
  html::Bars bars;
  bars.name_width = 130;  // "rank 18 × 46 before"
  for (const BarKind& kind : kKernelKinds) {
    bars.parts.push_back(
        {kind.part.empty() ? "other kernels" : std::string(kind.part),
         std::string(kind.style)});
  }
  for (const BarKind& kind : kOtherKinds) {
    bars.parts.push_back(
        {std::string(PartText(kind.part)), std::string(kind.style)});
  }
  for (const NamedParts& step : steps) {
    html::Bar bar{.name = step.name,
                  .times = std::vector<Duration>(bars.parts.size())};
    for (const auto& [name, time] : step.parts) {
      bar.times[BarKindOf(name)] += time;
    }
    bars.bars.push_back(std::move(bar));
  }
  return bars;
}

html::Bars AccountBars(std::span<const engine::RankAccount> accounts) {
  std::vector<NamedParts> steps;
  for (const engine::RankAccount& account : accounts) {
    steps.push_back({RankName(account), PartsOf(account)});
  }
  return PartBars(steps);
}

Table KernelTable(const engine::StepResult& result) {
  const ir::Graph& graph = *result.graph;
  const ir::GraphData& data = graph.data();
  const size_t slowest = result.slowest();
  const engine::RankAccount account = result.slowest_account();
  std::map<std::string, ActivitySum, std::less<>> sums;
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::Activity& activity = data.activities[id];
    const sim::TaskId task = result.lowered.activity_tasks[id];
    if (!task.valid() || data.streams[activity.stream].rank.value != slowest) {
      continue;
    }
    const sim::Placement& placement = result.schedule.placements[task];
    const Duration time = placement.end - placement.run;
    const std::string_view family = ir::FamilyName(graph.shape(id));
    // Activities of model files are named as their family: sizes tell them
    // apart.
    const std::string_view name = graph.text(activity.name);
    ActivitySum& sum = sums[name == family ? ir::ShapeText(graph.shape(id))
                                           : std::string(name)];
    sum.family = family;
    sum.time += time;
    ++sum.count;
    sum.sources[static_cast<size_t>(result.activities.prices[id].source)] +=
        time;
  }
  std::vector<std::pair<std::string, ActivitySum>> sorted(sums.begin(),
                                                          sums.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const auto& sum) { return sum.second.time; });
  Table table{.title = "longest kernels",
              .about = fmt::format("Of rank {}, summed by name.", account.rank),
              .columns = {{.label = "kernel", .width = kNameWidth},
                          {.label = "family"},
                          {.label = "from"},
                          {.label = "times"},
                          {.label = "time"},
                          {.label = "of the step"}},
              .readers = Readers::kPages};
  for (size_t i = 0; i < sorted.size() && i < kMostKernels; ++i) {
    const auto& [name, sum] = sorted[i];
    const auto source = std::ranges::max_element(sum.sources);
    table.rows.push_back({name, std::string(sum.family),
                          std::string(cost::Name(static_cast<cost::Origin>(
                              source - sum.sources.begin()))),
                          static_cast<int64_t>(sum.count), sum.time,
                          ShareOf(sum.time, account.step)});
  }
  return table;
}

Table PartsTable(const engine::RankAccount& account, std::string caption) {
  Table table{
      .title = "where the time goes",
      .caption = std::move(caption),
      .about = std::string(kBarsText),
      .columns = {
          {.label = "part"}, {.label = "time"}, {.label = "of the step"}}};
  for (const auto& [name, time] : PartsOf(account)) {
    if (time > Duration{}) {
      table.rows.push_back(
          {std::string(PartText(name)), time, ShareOf(time, account.step)});
    }
  }
  return table;
}

Table PathTable(const PathSummary& path) {
  Table table{.key = "critical_path",
              .title = "critical path",
              .caption = PathKindsText(path.kinds, path.length),
              .about = std::string(kPathText),
              .columns = {{.key = "kind", .label = "kind"},
                          {.key = "name", .label = "what", .width = kNameWidth},
                          {.key = "times", .label = "times"},
                          {.key = "us", .label = "time"},
                          {.label = "of the path"}},
              .limit = kPathRows};
  for (const PathShare& share : path.longest) {
    table.rows.push_back({std::string(engine::Name(share.kind)), share.what,
                          static_cast<int64_t>(share.times), share.time,
                          ShareOf(share.time, path.length)});
  }
  return table;
}

Table SourceTable(const std::vector<const PredictionReport*>& reports,
                  const std::vector<std::string>& names) {
  Table table{.title = "where the numbers are from",
              .columns = {{.label = "time"}, {.label = "from"}}};
  for (const std::string& name : names) {
    table.columns.push_back({.label = name});
  }
  const auto add = [&](std::string_view what, std::string_view from,
                       const auto& share_of) {
    std::vector<Value> row = {std::string(what), std::string(from)};
    bool some = false;
    for (const PredictionReport* report : reports) {
      row.emplace_back(Share{share_of(*report)});
      some = some || share_of(*report) > 0;
    }
    if (some) {
      table.rows.push_back(std::move(row));
    }
  };
  for (size_t i = 0; i < cost::kOriginCount; ++i) {
    add(reports.front()->subject.server ? "operators" : "GPU",
        cost::Name(static_cast<cost::Origin>(i)),
        [&](const PredictionReport& report) { return report.coverage[i]; });
  }
  for (size_t i = 0; i < cost::kOverheadSourceCount; ++i) {
    add("host", cost::Name(static_cast<cost::OverheadSource>(i)),
        [&](const PredictionReport& report) {
          return report.overhead_coverage[i];
        });
  }
  return table;
}

void AddTimes(std::string_view key, const StepParts& times, Facts& facts) {
  for (const auto& [name, time] : times) {
    facts.push_back({{.key = fmt::format("{}.{}", key, name)}, time});
  }
}

}  // namespace stepcast::view
