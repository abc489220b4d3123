#include "view/reports/attribution_blocks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/units.h"
#include "engine/explain/attribution.h"
#include "view/html/tree.h"
#include "view/people.h"
#include "view/reports/breakdown.h"
#include "view/reports/text_parts.h"

namespace stepcast::view {
namespace {

using engine::Attribution;
using engine::Place;
using engine::PlaceTimes;

constexpr std::string_view kTreeTitle = "whose time it is";
constexpr std::string_view kTreeText =
    "Each op's time is counted in its phase, annotations and modules; ops of "
    "the backward pass at the op of the forward pass that they belong to. "
    "Exposed: nothing else ran on the GPU. Host: all threads together, "
    "without waits.";
// What text shows: rows, levels, and the least share of the step: a hundredth.
constexpr size_t kTreeRows = 24;
constexpr size_t kTreeLevels = 4;
constexpr int64_t kLeastPart = 100;
// What pages have room for.
constexpr size_t kPageTreeRows = 500;
constexpr size_t kPageLevels = 32;
constexpr int64_t kPageLeastPart = 1000;

constexpr size_t kSiteRows = 8;
constexpr size_t kSlowRows = 6;
// Reasons of a slow step and details of a reason; smaller ones than a tenth of
// what the step took more are left out.
constexpr size_t kMostReasons = 3;
constexpr size_t kMostDetails = 2;
constexpr int64_t kLeastReason = 10;

// A row of the tree as people see it.
struct TreeRow {
  uint32_t place = 0;
  uint32_t last = 0;  // The lowest one that shares the row.
  size_t depth = 0;
  std::string name{};
};

// Places from a size on, in order. One that has next to nothing but a single
// place below it shares its row.
std::vector<TreeRow> TreeRows(const Attribution& found, Duration least,
                              size_t levels) {
  const std::vector<Place>& places = found.places;
  std::vector<std::vector<uint32_t>> children(places.size());
  std::vector<TreeRow> open;  // The next one last.
  for (uint32_t i = static_cast<uint32_t>(places.size()); i-- > 0;) {
    if (places[i].total.size() < least ||
        places[i].total.size() == Duration{}) {
      continue;
    }
    if (places[i].parent == Place::kNoPlace) {
      open.push_back({.place = i, .depth = 0, .name = places[i].name});
    } else {
      children[places[i].parent].push_back(i);
    }
  }
  std::vector<TreeRow> rows;
  while (!open.empty()) {
    TreeRow row = std::move(open.back());
    open.pop_back();
    uint32_t last = row.place;
    while (row.depth > 0 && children[last].size() == 1 &&
           places[last].own.size() < least &&
           places[last].total.size() -
                   places[children[last].front()].total.size() <
               least) {
      last = children[last].front();
      row.name += " > " + places[last].name;
    }
    if (row.depth + 1 < levels) {
      for (const uint32_t child : children[last]) {
        open.push_back({.place = child,
                        .depth = row.depth + 1,
                        .name = places[child].name});
      }
    }
    row.last = last;
    rows.push_back(std::move(row));
  }
  return rows;
}

// No time is blank.
Value TimeOrBlank(Duration time) {
  return time == Duration{} ? Value() : Value(time);
}

Value CountOrBlank(size_t count) {
  return count == 0 ? Value() : Value(static_cast<int64_t>(count));
}

Value WordOrBlank(const std::string& word) {
  return word.empty() ? Value() : Value(word);
}

// The times of a place that people see, and their share of the step: on the
// GPU, if anything ran there.
std::vector<Column> TimeColumns() {
  return {{.label = "GPU"},     {.label = "of the step"}, {.label = "backward"},
          {.label = "exposed"}, {.label = "rank wait"},   {.label = "host"},
          {.label = "ops"}};
}

std::vector<Value> TimeCells(const Attribution& found, const PlaceTimes& times,
                             size_t ops) {
  const bool has_gpu = found.total.gpu > Duration{};
  const Duration share = has_gpu ? times.gpu : times.host;
  return {TimeOrBlank(times.gpu),
          share == Duration{} ? Value() : ShareOf(share, found.step),
          TimeOrBlank(has_gpu ? times.gpu_backward : times.host_backward),
          TimeOrBlank(times.exposed),
          TimeOrBlank(times.wait),
          TimeOrBlank(times.host),
          CountOrBlank(ops)};
}

// Outermost ops at a place and below it.
std::vector<size_t> OpCounts(const std::vector<Place>& places) {
  std::vector<size_t> counts(places.size());
  for (size_t i = places.size(); i-- > 0;) {
    counts[i] += places[i].ops;
    if (places[i].parent != Place::kNoPlace) {
      counts[places[i].parent] += counts[i];
    }
  }
  return counts;
}

Table TextTree(const Attribution& found, const std::string& caption) {
  Table table{.title = std::string(kTreeTitle),
              .caption = caption,
              .columns = TimeColumns(),
              .limit = kTreeRows,
              .keep_by = 0,
              .readers = Readers::kText};
  // By size, which nobody sees.
  table.columns.insert(table.columns.begin(),
                       {Column{}, {.label = "whose", .width = kNameWidth}});
  table.columns.push_back({.label = "from", .width = kNameWidth});
  const std::vector<size_t> ops = OpCounts(found.places);
  for (const TreeRow& row :
       TreeRows(found, found.step / kLeastPart, kTreeLevels)) {
    const Place& place = found.places[row.place];
    std::vector<Value> cells = TimeCells(found, place.total, ops[row.place]);
    cells.insert(cells.begin(),
                 {Value(place.total.size()),
                  Value(std::string(2 * row.depth, ' ') + row.name)});
    cells.push_back(WordOrBlank(found.places[row.last].site));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Picture PageTree(const Attribution& found, const std::string& caption) {
  html::Tree tree{.name_head = "whose"};
  const std::vector<Column> columns = TimeColumns();
  const std::vector<size_t> ops = OpCounts(found.places);
  for (const TreeRow& row :
       TreeRows(found, found.step / kPageLeastPart, kPageLevels)) {
    if (tree.nodes.size() == kPageTreeRows) {
      break;
    }
    const Place& place = found.places[row.place];
    html::TreeNode node{.depth = row.depth,
                        .name = row.name,
                        .note = found.places[row.last].site,
                        .cells = {}};
    const std::vector<Value> cells =
        TimeCells(found, place.total, ops[row.place]);
    for (size_t i = 0; i < cells.size(); ++i) {
      node.cells.push_back(PeopleText(cells[i], columns[i]));
    }
    tree.nodes.push_back(std::move(node));
  }
  for (const Column& column : columns) {
    const bool is_time = column.label != "of the step" && column.label != "ops";
    tree.heads.push_back(is_time ? column.label + " ms" : column.label);
  }
  return {.title = std::string(kTreeTitle),
          .about = caption.empty()
                       ? std::string(kTreeText)
                       : fmt::format("Of {}. {}", caption, kTreeText),
          .drawing = std::move(tree)};
}

// For programs: every place, with those below it inside. What is zero is left
// out, but for the time of the GPU and of the host; so is the own time of what
// has nothing below.
Table JsonTree(const std::vector<Place>& places) {
  const std::vector<Column> columns = {{.key = "name"},
                                       {.key = "kind"},
                                       {.key = "site"},
                                       {.key = "ops"},
                                       {.key = "gpu_us"},
                                       {.key = "exposed_us"},
                                       {.key = "wait_us"},
                                       {.key = "host_us"},
                                       {.key = "backward.gpu_us"},
                                       {.key = "backward.host_us"},
                                       {.key = "own.gpu_us"},
                                       {.key = "own.host_us"},
                                       {.key = "children"}};
  std::vector<std::shared_ptr<Table>> below(places.size() + 1);
  // From the back, so that a place's children are there; they come reversed.
  for (size_t i = places.size(); i-- > 0;) {
    const Place& place = places[i];
    const PlaceTimes& total = place.total;
    std::vector<Value> row = {
        place.name,
        std::string(Name(place.kind)),
        WordOrBlank(place.site),
        CountOrBlank(place.ops),
        total.gpu,
        TimeOrBlank(total.exposed),
        TimeOrBlank(total.wait),
        total.host,
        TimeOrBlank(total.gpu_backward),
        TimeOrBlank(total.host_backward),
        TimeOrBlank(below[i] == nullptr ? Duration{} : place.own.gpu),
        TimeOrBlank(below[i] == nullptr ? Duration{} : place.own.host)};
    if (below[i] != nullptr) {
      std::ranges::reverse(below[i]->rows);
      row.emplace_back(std::shared_ptr<const Table>(below[i]));
    }
    auto& siblings =
        below[place.parent == Place::kNoPlace ? places.size() : place.parent];
    if (siblings == nullptr) {
      siblings = std::make_shared<Table>(Table{.columns = columns});
    }
    siblings->rows.push_back(std::move(row));
  }
  Table tree = below.back() == nullptr ? Table{} : *below.back();
  std::ranges::reverse(tree.rows);
  tree.key = "attribution.tree";
  tree.readers = Readers::kPrograms;
  return tree;
}

Table SiteTable(const Attribution& found) {
  Table table{.key = "attribution.functions",
              .title = "functions that take most",
              .about =
                  "The innermost function around each op that is not "
                  "PyTorch's own; ops of the backward pass count where "
                  "their forward op is.",
              .columns = {{.key = "site", .label = "from", .width = kNameWidth},
                          {.key = "gpu_us", .label = "GPU"},
                          {.key = "backward_gpu_us", .label = "backward"},
                          {.key = "exposed_us", .label = "exposed"},
                          {.key = "host_us", .label = "host"}},
              .limit = kSiteRows};
  std::vector<std::pair<std::string, PlaceTimes>> sorted(found.sites.begin(),
                                                         found.sites.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const auto& site) { return site.second.size(); });
  const bool has_gpu = found.total.gpu > Duration{};
  for (const auto& [site, times] : sorted) {
    const auto gpu = [&](Duration time) {
      return has_gpu ? Value(time) : Value();
    };
    table.rows.push_back({site, gpu(times.gpu), gpu(times.gpu_backward),
                          gpu(times.exposed), times.host});
  }
  return table;
}

// "+1.203 ms gemm"
std::string MoreText(Duration time, std::string_view what) {
  return fmt::format("+{} ms {}", MillisecondsText(time), what);
}

// What the parts of a slow step took more, the most first.
std::vector<PartDifference> MoreParts(const engine::SlowStep& step) {
  std::vector<PartDifference> parts =
      DifferencesOf(PartsOf(step.usual), PartsOf(step.slow));
  if (step.measured > step.slow.step) {
    parts.push_back(
        {.name = "unexplained", .b = step.measured - step.slow.step});
  }
  std::ranges::stable_sort(parts, std::ranges::greater(),
                           &PartDifference::delta);
  return parts;
}

// What is known of a part that took longer: the host's ops and calls, or the
// rank that came late.
std::string DetailText(const engine::SlowStep& step, std::string_view part,
                       Duration least) {
  if (part == "idle wait_for_rank") {
    return step.blame;
  }
  std::vector<std::string> details;
  for (const auto& [what, time] : step.host) {
    if (part == "idle host" && time >= least && details.size() < kMostDetails) {
      details.push_back(MoreText(time, what));
    }
  }
  return Join(details, ", ");
}

// "+30.1 ms idle: host busy (+29.8 ms cudaMalloc)"
std::string WhyText(const engine::SlowStep& step) {
  const Duration least = (step.measured - step.usual.step) / kLeastReason;
  std::vector<std::string> reasons;
  for (const PartDifference& part : MoreParts(step)) {
    if (part.delta() < least || part.delta() <= Duration{} ||
        reasons.size() == kMostReasons) {
      break;
    }
    const std::string details = DetailText(step, part.name, least);
    reasons.push_back(MoreText(part.delta(), PartText(part.name)) +
                      (details.empty() ? "" : fmt::format(" ({})", details)));
  }
  return reasons.empty() ? "a little of everything" : Join(reasons, "; ");
}

// For programs: those of at least `least`, more or less.
template <typename Pairs>
std::shared_ptr<const Table> MoreRows(const Pairs& pairs, Duration least) {
  Table table{.columns = {{.key = "what"}, {.key = "more_us"}}};
  for (const auto& [what, time] : pairs) {
    if (std::chrono::abs(time) >= least) {
      table.rows.push_back({what, time});
    }
  }
  return std::make_shared<const Table>(std::move(table));
}

Table SlowTable(const engine::StepStatistics& statistics) {
  Table table{
      .key = "step_statistics.slow",
      .title = "slow steps",
      .about = fmt::format("Those that take more than {:.1f} times the median, "
                           "with what took longer than in the median step.",
                           engine::kSlowFactor),
      .columns = {{.key = "step", .label = "step"},
                  {.key = "rank", .label = "rank"},
                  {.key = "measured_us", .label = "time"},
                  {.key = "more_us", .label = "more", .sign = true},
                  {.key = "parts"},
                  {.key = "host"},
                  {.key = "blame"},
                  {.key = "why", .label = "what took longer"}},
      .limit = kSlowRows,
      .keep_by = 2};
  for (const engine::SlowStep& step : statistics.slow) {
    const Duration least = (step.measured - step.usual.step) / kLeastPart;
    StepParts parts;
    for (const PartDifference& part : MoreParts(step)) {
      parts.emplace_back(part.name, part.delta());
    }
    table.rows.push_back({step.step ? Value(*step.step) : Value(nullptr),
                          step.rank, step.measured,
                          step.measured - statistics.median,
                          MoreRows(parts, least), MoreRows(step.host, least),
                          WordOrBlank(step.blame), WhyText(step)});
  }
  return table;
}

}  // namespace

void AddAttribution(const engine::StepResult& result, Doc& doc) {
  if (result.accounts.empty()) {
    return;
  }
  const Attribution found = engine::Attribute(
      result, ir::RankId{static_cast<uint32_t>(result.slowest())});
  // Of several ranks one is shown.
  const std::string caption =
      result.accounts.size() > 1
          ? fmt::format("rank {}, the slowest", found.rank)
          : "";
  doc.blocks.emplace_back(TextTree(found, caption));
  doc.blocks.emplace_back(PageTree(found, caption));
  doc.blocks.emplace_back(
      Facts{{{.key = "attribution.rank"}, found.rank},
            {{.key = "attribution.gpu_us"}, found.total.gpu},
            {{.key = "attribution.host_us"}, found.total.host}});
  doc.blocks.emplace_back(JsonTree(found.places));
  if (!found.sites.empty()) {
    doc.blocks.emplace_back(SiteTable(found));
  }
}

void AddStepStatistics(const engine::StepStatistics& statistics, Doc& doc) {
  if (statistics.steps < 2) {
    return;
  }
  const double median = ToMicroseconds(statistics.median);
  const Duration spread = statistics.p90 - statistics.p10;
  doc.blocks.emplace_back(Facts{
      {{.key = "step_statistics.steps", .label = "steps"},
       static_cast<int64_t>(statistics.steps),
       fmt::format("median {} ms, p10 {}, p90 {}; GPU active {:.1f} %",
                   MillisecondsText(statistics.median),
                   MillisecondsText(statistics.p10),
                   MillisecondsText(statistics.p90),
                   kPercent * statistics.active_median)},
      {{.key = "step_statistics.shortest_us"}, statistics.shortest},
      {{.key = "step_statistics.p10_us"}, statistics.p10},
      {{.key = "step_statistics.median_us"}, statistics.median},
      {{.key = "step_statistics.p90_us"}, statistics.p90},
      {{.key = "step_statistics.longest_us"}, statistics.longest},
      {{.key = "step_statistics.spread"},
       Share{median > 0 ? ToMicroseconds(spread) / median : 0}},
      {{.key = "step_statistics.gpu_active.p10"}, Share{statistics.active_p10}},
      {{.key = "step_statistics.gpu_active.median"},
       Share{statistics.active_median}},
      {{.key = "step_statistics.gpu_active.p90"},
       Share{statistics.active_p90}}});
  doc.blocks.emplace_back(SlowTable(statistics));
}

}  // namespace stepcast::view
