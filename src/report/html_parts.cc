#include "report/html_parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "html/bars.h"
#include "html/escape.h"
#include "ir/shape.h"
#include "report/alike_text.h"
#include "report/breakdown.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

constexpr size_t kMostTopWorks = 20;
constexpr size_t kMostPathPartsInPage = 20;

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

html::Bars MakeBars(std::span<const NamedParts> steps) {
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

struct WorkSum {
  std::string_view family{};
  Duration time{};
  size_t count = 0;
  std::array<Duration, engine::kPriceSourceCount> sources{};
};

}  // namespace

std::string PartBars(std::span<const NamedParts> steps) {
  return html::BarsHtml(MakeBars(steps));
}

std::string AlikeHtml(std::span<const engine::RankAccount> accounts) {
  const std::string text = AlikeText(accounts);
  return text.empty() ? "" : fmt::format("<p>{}</p>\n", html::Escape(text));
}

std::string AccountBars(std::span<const engine::RankAccount> accounts) {
  std::vector<NamedParts> steps;
  for (const engine::RankAccount& account : accounts) {
    steps.push_back({RankName(account), PartsOf(account)});
  }
  return PartBars(steps) + AlikeHtml(accounts);
}

html::Table TopWorks(const ir::Graph& graph, const SimulatedStep& step,
                     const engine::RankAccount& account,
                     const engine::PricedWorks* prices) {
  const ir::GraphData& data = graph.data();
  std::map<std::string, WorkSum, std::less<>> sums;
  for (const ir::WorkId id : data.works.ids()) {
    const ir::Work& work = data.works[id];
    const sim::TaskId task = step.lowered.work_tasks[id];
    if (!task.valid() ||
        data.ranks[data.streams[work.stream].rank].number != account.rank) {
      continue;
    }
    const sim::Placement& placement = step.schedule.placements[task];
    const Duration time = placement.end - placement.work;
    const std::string_view family = ir::FamilyName(graph.shape(id));
    // Works of model files are named as their family: sizes tell them apart.
    const std::string_view name = graph.text(work.name);
    WorkSum& sum = sums[name == family ? ir::ShapeText(graph.shape(id))
                                       : std::string(name)];
    sum.family = family;
    sum.time += time;
    ++sum.count;
    if (prices != nullptr) {
      sum.sources[static_cast<size_t>(prices->prices[id].source)] += time;
    }
  }
  std::vector<std::pair<std::string, WorkSum>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const auto& sum) { return sum.second.time; });
  html::Table table{
      .head = {"kernel", "family", "from", "times", "ms", "of the step"},
      .rows = {},
      .words = 3};
  for (size_t i = 0; i < sorted.size() && i < kMostTopWorks; ++i) {
    const auto& [name, sum] = sorted[i];
    const auto source = std::ranges::max_element(sum.sources);
    table.rows.push_back(
        {ElideMiddle(Printable(name), kNameLength), std::string(sum.family),
         prices == nullptr
             ? "measured"
             : std::string(engine::Name(static_cast<engine::PriceSource>(
                   source - sum.sources.begin()))),
         fmt::format("{}", sum.count), MillisecondsText(sum.time),
         PercentText(sum.time, account.step)});
  }
  return table;
}

html::Table PartsTable(const engine::RankAccount& account) {
  html::Table table{
      .head = {"part", "ms", "of the step"}, .rows = {}, .words = 1};
  for (const auto& [name, time] : PartsOf(account)) {
    if (time > Duration{}) {
      table.rows.push_back({std::string(PartText(name)), MillisecondsText(time),
                            PercentText(time, account.step)});
    }
  }
  return table;
}

html::Table PathTable(const PathSummary& path) {
  html::Table table{.head = {"what", "kind", "times", "ms", "of the path"},
                    .rows = {},
                    .words = 2};
  for (size_t i = 0; i < path.longest.size() && i < kMostPathPartsInPage; ++i) {
    const PathShare& share = path.longest[i];
    table.rows.push_back(
        {ElideMiddle(Printable(share.what), kNameLength),
         std::string(engine::Name(share.kind)), fmt::format("{}", share.times),
         MillisecondsText(share.time), PercentText(share.time, path.length)});
  }
  return table;
}

html::Table SourcesTable(const std::vector<const PredictionReport*>& reports,
                         const std::vector<std::string>& names) {
  html::Table table{.head = {"time", "from"}, .rows = {}, .words = 2};
  table.head.insert(table.head.end(), names.begin(), names.end());
  const auto add = [&](std::string_view what, std::string_view from,
                       const auto& share_of) {
    std::vector<std::string> row = {std::string(what), std::string(from)};
    bool some = false;
    for (const PredictionReport* report : reports) {
      row.push_back(PercentText(share_of(*report)));
      some = some || share_of(*report) > 0;
    }
    if (some) {
      table.rows.push_back(std::move(row));
    }
  };
  for (size_t i = 0; i < engine::kPriceSourceCount; ++i) {
    add("GPU", engine::Name(static_cast<engine::PriceSource>(i)),
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

}  // namespace stepcast::report
