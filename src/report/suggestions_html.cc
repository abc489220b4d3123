// Changes ranked by what they gain, as a page to look at.
#include <fmt/format.h>

#include "base/text_table.h"
#include "html/bars.h"
#include "html/page.h"
#include "report/html_parts.h"
#include "report/html_timeline.h"
#include "report/suggestions.h"
#include "report/text_parts.h"
#include "report/verdict.h"

namespace stepcast::report {
namespace {

constexpr size_t kBarNameLength = 40;

std::string VerdictOf(const SuggestionsReport& report) {
  const PredictionReport& before = report.before;
  std::string text =
      fmt::format("{} ms a step, {}", MillisecondsText(before.step),
                  Verdict(before.critical_path, before.slowest));
  if (report.gains.empty()) {
    return text + "; no single change helps";
  }
  const SuggestionRow& best = report.gains.front();
  return fmt::format("{}; {} gains most: {}{}", text, Printable(best.change),
                     best.bound ? "at most " : "",
                     PercentText(-best.delta.step, before.step));
}

void AddGains(const SuggestionsReport& report, html::Page& page) {
  html::Bars bars{.parts = {{"step with the change", "total"},
                            {"gained", "gain"},
                            {"gained at most", "wait"}},
                  .bars = {},
                  .name_width = 250};
  html::Table table{.head = {"change", "confidence", "off the critical path",
                             "gain ms", "p10 ms", "p90 ms", "%"},
                    .rows = {},
                    .words = 3};
  for (const SuggestionRow& row : report.gains) {
    const std::string name = Printable(row.change);
    const Duration gain = -row.delta.step;
    const Duration after = report.before.step - gain;
    bars.bars.push_back({.name = ElideMiddle(name, kBarNameLength),
                         .times = {after, row.bound ? Duration{} : gain,
                                   row.bound ? gain : Duration{}},
                         .label = MillisecondsText(after) + " ms"});
    table.rows.push_back(
        {name, std::string(row.confidence), row.reason,
         fmt::format("{}{}", row.bound ? "≤ " : "", DeltaText(gain)),
         DeltaText(-row.delta.p90), DeltaText(-row.delta.p10),
         DeltaPercentText(gain, report.before.step)});
  }
  page.AddSection("What would help",
                  "Each change alone, the largest gain first; beside the "
                  "bars the step with it.");
  page.AddHtml(html::BarsHtml(bars));
  page.AddTable(table);
}

}  // namespace

std::string SuggestionsHtml(const SuggestionsReport& report,
                            const whatif::Case& before,
                            std::string_view version) {
  html::Page page(SubjectText(report.before.subject), VerdictOf(report));
  AddGains(report, page);
  if (!report.rejected.empty()) {
    html::Table table{.head = {"change", "why not"}, .rows = {}, .words = 2};
    for (const whatif::Rejected& item : report.rejected) {
      table.rows.push_back({item.change, Printable(item.why)});
    }
    page.AddSection("Without gain, or not for this step");
    page.AddTable(table);
  }
  page.AddSection("Where the time goes", kBarsText);
  page.AddHtml(AccountBars(report.before.ranks));
  page.AddSection("Timeline", kTimelineText);
  page.AddHtml(StepTimeline(*before.graph, SimulatedStep(before.prediction),
                            SpanOf(before.prediction)));
  page.AddSection("Critical path", kPathText);
  page.AddTable(PathTable(report.before.critical_path));
  return page.Take(version);
}

}  // namespace stepcast::report
