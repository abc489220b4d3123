#include "report/html_report.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "html/page.h"
#include "ir/names.h"
#include "report/html_parts.h"
#include "report/html_timeline.h"
#include "report/text_parts.h"
#include "report/verdict.h"

namespace stepcast::report {
namespace {

std::vector<html::Fact> PageFacts(const PredictionReport& report) {
  const engine::RankAccount& slowest = report.slowest;
  std::vector<html::Fact> facts;
  facts.push_back({"step time", MillisecondsText(report.step) + " ms",
                   report.interval.p10 == report.interval.p90
                       ? report.subject.window
                       : fmt::format("p10 {}, p90 {} ms",
                                     MillisecondsText(report.interval.p10),
                                     MillisecondsText(report.interval.p90))});
  if (report.samples_per_s > 0) {
    facts.push_back({"throughput",
                     WithThousands(static_cast<int64_t>(report.samples_per_s)),
                     "samples/s"});
  }
  facts.push_back({report.subject.server ? "at work" : "GPU active",
                   PercentText(slowest.gpu_active, slowest.step),
                   MillisecondsText(slowest.gpu_active) + " ms"});
  facts.push_back({"host busy", PercentText(slowest.host_busy, slowest.step),
                   MillisecondsText(slowest.host_busy) + " ms"});
  if (report.memory) {
    facts.push_back(
        {"memory", fmt::format("{:.1f} GB", report.memory->hbm_bytes / kGiga),
         fmt::format("of {:.0f} GB{}",
                     report.memory->hbm_capacity_bytes / kGiga,
                     report.memory->fits() ? "" : ": does not fit")});
  }
  return facts;
}

// The bar of the slowest rank in numbers.
void AddParts(const engine::RankAccount& slowest, size_t ranks,
              html::Page& page) {
  if (ranks > 1) {
    page.AddHtml(fmt::format("<h3>rank {}, the slowest</h3>\n", slowest.rank));
  }
  page.AddTable(PartsTable(slowest));
}

// Where every number comes from.
void AddSources(const PredictionReport& report, html::Page& page) {
  page.AddSection("Where the numbers are from",
                  fmt::format("Window: {}. Overheads of the host: {}.",
                              report.subject.window, report.subject.overheads));
  page.AddTable(SourcesTable({&report}, {"share"}));
  if (!report.notes.empty()) {
    page.AddNotes(report.notes);
  }
}

}  // namespace

std::string PredictionHtml(const PredictionReport& report,
                           const ir::Graph& graph,
                           const engine::Prediction& prediction,
                           std::string_view version) {
  const SimulatedStep step(prediction);
  html::Page page(SubjectText(report.subject),
                  fmt::format("{} ms a step, {}", MillisecondsText(report.step),
                              Verdict(report.critical_path, report.slowest)));
  page.AddFacts(PageFacts(report));
  page.AddSection("Where the time goes", kBarsText);
  page.AddHtml(AccountBars(report.ranks));
  AddParts(report.slowest, report.ranks.size(), page);
  page.AddSection("Timeline", kTimelineText);
  page.AddHtml(StepTimeline(graph, step, SpanOf(prediction)));
  page.AddSection("Critical path", kPathText);
  page.AddTable(PathTable(report.critical_path));
  page.AddSection("Longest kernels", fmt::format("Of rank {}, summed by name.",
                                                 report.slowest.rank));
  page.AddTable(TopWorks(graph, step, report.slowest, &prediction.works));
  AddSources(report, page);
  return page.Take(version);
}

std::string ReplayHtml(const ReplayedJob& job, std::string_view name,
                       std::string_view version) {
  const SimulatedStep step(job.replay);
  const StepDetails& details = job.report.details;
  const auto slowest = std::ranges::max_element(details.accounts, {},
                                                &engine::RankAccount::step);
  const std::string number =
      details.step ? fmt::format(", step {}", *details.step) : "";
  html::Page page(fmt::format("{}{}", name, number),
                  fmt::format("{} ms, {}", MillisecondsText(slowest->step),
                              Verdict(details.path, *slowest)));
  html::Table ranks{.head = {"rank", "measured ms", "simulated ms", "error",
                             "unexplained ms"},
                    .rows = {},
                    .words = 1};
  for (const engine::ReplayedRank& rank : job.replay.ranks) {
    ranks.rows.push_back({fmt::format("{}", rank.rank),
                          MillisecondsText(rank.measured),
                          MillisecondsText(rank.simulated),
                          fmt::format("{:+.2f} %", 100 * rank.error()),
                          MillisecondsText(rank.unexplained)});
  }
  page.AddSection("Where the time went", kBarsText);
  page.AddHtml(AccountBars(details.accounts));
  AddParts(*slowest, details.accounts.size(), page);
  page.AddSection("Timeline",
                  fmt::format("As simulated from the measured durations. {}",
                              kTimelineText));
  page.AddHtml(
      StepTimeline(job.graph, step,
                   engine::SingleSpans(job.replay.lowered,
                                       job.replay.schedule)[static_cast<size_t>(
                       slowest - details.accounts.begin())]));
  if (!details.collectives.empty()) {
    html::Table table{.head = {"collective", "kind", "last rank",
                               "why it came late", "own us", "start skew us"},
                      .rows = {},
                      .words = 4};
    for (size_t i = 0; i < details.collectives.size(); ++i) {
      const engine::CollectiveBlame& blame = details.collectives[i];
      table.rows.push_back(
          {fmt::format("{}", i), std::string(ir::Name(blame.kind)),
           fmt::format("{}", blame.last_rank), blame.blame,
           MicrosecondsText(blame.own), MicrosecondsText(blame.start_skew)});
    }
    page.AddSection("Who waited for whom");
    page.AddTable(table);
  }
  page.AddSection("Critical path", kPathText);
  page.AddTable(PathTable(details.path));
  page.AddSection("Longest kernels",
                  fmt::format("Of rank {}, summed by name.", slowest->rank));
  page.AddTable(TopWorks(job.graph, step, *slowest, nullptr));
  page.AddSection("Measured and simulated",
                  "How far the simulation is from the trace says how much of "
                  "the step it explains.");
  page.AddTable(ranks);
  return page.Take(version);
}

}  // namespace stepcast::report
