// Two steps side by side, as a page to look at.
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "html/page.h"
#include "html/waterfall.h"
#include "report/alike_text.h"
#include "report/compare.h"
#include "report/html_parts.h"
#include "report/html_timeline.h"
#include "report/text_parts.h"
#include "report/whatif.h"

namespace stepcast::report {
namespace {

constexpr size_t kMostOpsInPage = 200;
constexpr size_t kOpNameLength = 80;

std::string VerdictOf(const Comparison& comparison) {
  const Duration delta = comparison.b.step - comparison.a.step;
  if (delta == Duration{}) {
    return fmt::format("A and B take the same: {} ms",
                       MillisecondsText(comparison.a.step));
  }
  std::string text = fmt::format("B is {} than A: {} to {} ms ({})",
                                 delta < Duration{} ? "shorter" : "longer",
                                 MillisecondsText(comparison.a.step),
                                 MillisecondsText(comparison.b.step),
                                 DeltaPercentText(delta, comparison.a.step));
  for (const PartDifference& part : comparison.parts) {
    // The largest that goes the same way.
    if ((part.delta() < Duration{}) == (delta < Duration{})) {
      return fmt::format("{}, most of it {}", text, PartText(part.name));
    }
  }
  return text;
}

std::vector<html::Fact> PageFacts(const Comparison& comparison) {
  const auto fact = [](std::string name, Duration a, Duration b) {
    return html::Fact{
        std::move(name),
        fmt::format("{} → {} ms", MillisecondsText(a), MillisecondsText(b)),
        fmt::format("{} ms, {}", DeltaText(b - a), DeltaPercentText(b - a, a))};
  };
  const ComparedStep& a = comparison.a;
  const ComparedStep& b = comparison.b;
  std::vector<html::Fact> facts = {
      fact("step time", a.step, b.step),
      fact("GPU active", a.gpu_active, b.gpu_active),
      fact("host busy", a.host_busy, b.host_busy)};
  if (a.samples_per_s > 0 && b.samples_per_s > 0) {
    facts.push_back(
        {"samples/s",
         fmt::format("{} → {}",
                     WithThousands(static_cast<int64_t>(a.samples_per_s)),
                     WithThousands(static_cast<int64_t>(b.samples_per_s))),
         fmt::format("{:+.1f} %",
                     kPercent * (b.samples_per_s / a.samples_per_s - 1))});
  }
  return facts;
}

void AddParts(const Comparison& comparison, html::Page& page) {
  html::Waterfall waterfall{
      .begin_name = "A", .begin = {}, .steps = {}, .end_name = "B"};
  html::Table table{
      .head = {"part", "A ms", "B ms", "B - A", "%"}, .rows = {}, .words = 1};
  for (const PartDifference& part : comparison.parts) {
    const std::string name(PartText(part.name));
    waterfall.begin += part.a;
    waterfall.steps.push_back({name, part.delta()});
    table.rows.push_back({name, MillisecondsText(part.a),
                          MillisecondsText(part.b), DeltaText(part.delta()),
                          DeltaPercentText(part.delta(), part.a)});
  }
  page.AddSection("From A to B", "Of the slowest rank of each.");
  page.AddHtml(html::WaterfallHtml(waterfall));
  page.AddTable(table);
}

std::string TimesText(size_t a, size_t b) {
  return a == b ? fmt::format("{}", a) : fmt::format("{} → {}", a, b);
}

void AddOps(const Comparison& comparison, html::Page& page) {
  page.AddSection(
      "Op by op",
      comparison.by_op()
          ? "Top-level ops of the slowest rank by name, the largest difference "
            "first."
          : fmt::format("Not compared: {}.", comparison.why_not_by_op()));
  if (!comparison.by_op()) {
    return;
  }
  html::Table table{.head = {"op", "times", "GPU A ms", "GPU B ms", "B - A",
                             "host A ms", "host B ms", "B - A"},
                    .rows = {},
                    .words = 1};
  size_t same = 0;
  for (const OpDifference& op : comparison.ops) {
    if (op.host() == Duration{} && op.device() == Duration{}) {
      ++same;
    } else if (table.rows.size() < kMostOpsInPage) {
      table.rows.push_back({ElideMiddle(Printable(op.name), kOpNameLength),
                            TimesText(op.a.count, op.b.count),
                            MillisecondsText(op.a.device),
                            MillisecondsText(op.b.device),
                            DeltaText(op.device()), MillisecondsText(op.a.host),
                            MillisecondsText(op.b.host), DeltaText(op.host())});
    }
  }
  page.AddTable(table);
  const size_t left = comparison.ops.size() - same - table.rows.size();
  page.AddNotes({fmt::format(
      "{} take the same{}", CountText(static_cast<int64_t>(same), "op"),
      left == 0 ? "." : fmt::format("; {} more differ less.", left))});
}

// All ranks of both, where there are several.
std::vector<NamedParts> BarsOf(const Comparison& comparison,
                               const PredictionReport* a,
                               const PredictionReport* b) {
  std::vector<NamedParts> bars;
  const auto add = [&](std::string_view name, const StepParts& parts,
                       const PredictionReport* report) {
    if (report == nullptr || report->ranks.size() <= 1) {
      bars.push_back({std::string(name), parts});
      return;
    }
    for (const engine::RankAccount& rank : report->ranks) {
      bars.push_back(
          {fmt::format("{} {}", name, RankName(rank)), PartsOf(rank)});
    }
  };
  add("A", comparison.a.parts, a);
  add("B", comparison.b.parts, b);
  return bars;
}

// What is known of a side beyond its sums.
void AddSide(std::string_view name, const whatif::Case& side,
             const PredictionReport& report, html::Page& page) {
  page.AddSection(fmt::format("Critical path of {}", name), kPathText);
  page.AddTable(PathTable(report.critical_path));
  page.AddSection(
      fmt::format("Longest kernels of {}", name),
      fmt::format("Of rank {}, summed by name.", report.slowest.rank));
  page.AddTable(TopWorks(*side.graph, SimulatedStep(side.prediction),
                         report.slowest, &side.prediction.works));
}

void AddSources(const PredictionReport* a, const PredictionReport* b,
                html::Page& page) {
  std::vector<const PredictionReport*> reports;
  std::vector<std::string> names;
  for (const auto& [name, report] : {std::pair("A", a), std::pair("B", b)}) {
    if (report != nullptr) {
      reports.push_back(report);
      names.emplace_back(name);
    }
  }
  if (!reports.empty()) {
    page.AddSection("Where the numbers are from");
    page.AddTable(SourcesTable(reports, names));
  }
}

std::optional<PredictionReport> ReportOf(const whatif::Case* side,
                                         const std::string& name) {
  return side == nullptr ? std::nullopt
                         : std::optional(ReportCase(*side, name));
}

}  // namespace

std::string ComparisonHtml(const Comparison& comparison, const whatif::Case* a,
                           const whatif::Case* b, std::string_view version) {
  html::Page page(fmt::format("{} against {}", Printable(comparison.b.name),
                              Printable(comparison.a.name)),
                  VerdictOf(comparison));
  page.AddFacts(PageFacts(comparison));
  page.AddNotes({fmt::format("A: {}", Printable(comparison.a.name)),
                 fmt::format("B: {}", Printable(comparison.b.name))});
  const auto report_a = ReportOf(a, comparison.a.name);
  const auto report_b = ReportOf(b, comparison.b.name);
  const PredictionReport* const known_a = report_a ? &*report_a : nullptr;
  const PredictionReport* const known_b = report_b ? &*report_b : nullptr;
  page.AddSection("Where the time goes", kBarsText);
  page.AddHtml(PartBars(BarsOf(comparison, known_a, known_b)));
  AddParts(comparison, page);
  AddOps(comparison, page);
  if (a != nullptr && b != nullptr) {
    page.AddSection("Timelines", kTimelineText);
    page.AddHtml(LinkedTimelines(*a, "A", *b, "B"));
  }
  if (known_a != nullptr) {
    AddSide("A", *a, *known_a, page);
  }
  if (known_b != nullptr) {
    AddSide("B", *b, *known_b, page);
  }
  AddSources(known_a, known_b, page);
  return page.Take(version);
}

}  // namespace stepcast::report
