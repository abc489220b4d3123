// Plans as a page to look at.
#include <algorithm>

#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "html/bars.h"
#include "html/page.h"
#include "report/html_parts.h"
#include "report/html_timeline.h"
#include "report/plan_report.h"
#include "report/text_parts.h"
#include "report/verdict.h"

namespace stepcast::report {
namespace {

// Rows of tables; --json has all.
constexpr size_t kMostPlanRanksInPage = 256;
constexpr size_t kMostTablesInPage = 500;
// Works up to which the timeline is in the page: some ten megabytes.
constexpr size_t kMostWorksInTimeline = 100'000;

std::string VerdictOf(const PlanReport& report, const PredictionReport& step) {
  if (report.why_not) {
    return fmt::format("nothing fits: {}; would fit with {}",
                       report.why_not_text,
                       fmt::join(report.why_not->ways, ", or "));
  }
  return fmt::format("{} ms a step by {}, {}", MillisecondsText(step.step),
                     report.best_row().sharder,
                     Verdict(step.critical_path, step.slowest));
}

std::vector<html::Fact> PageFacts(const PlanReport& report,
                                  const PredictionReport& step) {
  const PlanRow& best = report.best_row();
  std::vector<html::Fact> facts;
  facts.push_back(
      {"step time", MillisecondsText(step.step) + " ms", "by " + best.sharder});
  if (const PlanRow* const torchrec = report.RowOf("torchrec");
      torchrec != nullptr && torchrec->step_us) {
    facts.push_back({"TorchRec's plan",
                     MillisecondsText(*torchrec->step_us) + " ms",
                     AgainstText(best, torchrec) + " to the best"});
  }
  facts.push_back(
      {"fullest GPU", fmt::format("{:.1f} GB", best.hbm_bytes / kGiga),
       fmt::format("of {:.0f} GB{}", report.hbm_capacity_bytes / kGiga,
                   best.fits ? "" : ": does not fit")});
  facts.push_back({"searched", WithThousands(report.evaluations),
                   fmt::format("plans by cost, {} simulated{}",
                               WithThousands(report.simulations),
                               report.stopped ? "; stopped early" : "")});
  return facts;
}

void AddSharders(const PlanReport& report, html::Page& page) {
  html::Bars bars{.parts = {{"lookups forward", "embedding"},
                            {"lookups backward", "compute"},
                            {"exchange", "communication"}},
                  .bars = {}};
  html::Table table{
      .head = {"sharder", "", "step ms", "to torchrec", "cost ms", "forward",
               "backward", "exchange", "host", "HBM GB"},
      .rows = {},
      .words = 2};
  const PlanRow* const torchrec = report.RowOf("torchrec");
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const PlanRow& row = report.rows[i];
    const double exchange =
        row.cost.forward_exchange_us + row.cost.backward_exchange_us;
    bars.bars.push_back(
        {row.sharder,
         {FromMicroseconds(row.cost.forward_us),
          FromMicroseconds(row.cost.backward_us), FromMicroseconds(exchange)}});
    table.rows.push_back(
        {row.sharder,
         !row.fits          ? "does not fit"
         : i == report.best ? "best"
                            : "",
         row.step_us ? MillisecondsText(*row.step_us) : "-",
         AgainstText(row, torchrec), MillisecondsText(row.cost_us),
         MillisecondsText(row.cost.forward_us),
         MillisecondsText(row.cost.backward_us), MillisecondsText(exchange),
         MillisecondsText(row.cost.host_us),
         fmt::format("{:.2f}", row.hbm_bytes / kGiga)});
  }
  page.AddSection("Sharders",
                  "Step: as simulated. Cost: what searches go by, the sum of "
                  "the slowest ranks' parts; the bars show what of it the plan "
                  "decides. Steps that are the same for many plans are the "
                  "host's: the device waits for it whatever the plan.");
  page.AddHtml(html::BarsHtml(bars));
  page.AddTable(table);
}

void AddRanks(const PlanReport& report, html::Page& page) {
  html::Bars bars{.parts = {{"forward compute", "embedding"},
                            {"backward compute", "compute"},
                            {"forward comms", "communication"},
                            {"backward comms", "idle-sync"}},
                  .bars = {}};
  html::Table table{
      .head = {"rank", "shards", "HBM GB", "%", "DDR GB", "perf ms",
               "fwd compute", "fwd comms", "bwd compute", "bwd comms",
               "input MB", "output MB"},
      .rows = {},
      .words = 2};
  for (const PlanRank& rank : report.ranks) {
    bars.bars.push_back({fmt::format("rank {}", rank.rank),
                         {FromMicroseconds(rank.forward_compute_us),
                          FromMicroseconds(rank.backward_compute_us),
                          FromMicroseconds(rank.forward_comms_us),
                          FromMicroseconds(rank.backward_comms_us)}});
    if (table.rows.size() < kMostPlanRanksInPage) {
      table.rows.push_back(
          {fmt::format("{}", rank.rank), ShardsText(rank),
           fmt::format("{:.2f}", rank.hbm_bytes / kGiga),
           fmt::format("{:.0f}",
                       rank.hbm_bytes / report.hbm_capacity_bytes * 100),
           fmt::format("{:.2f}", rank.ddr_bytes / kGiga),
           MillisecondsText(rank.perf_us()),
           MillisecondsText(rank.forward_compute_us),
           MillisecondsText(rank.forward_comms_us),
           MillisecondsText(rank.backward_compute_us),
           MillisecondsText(rank.backward_comms_us),
           fmt::format("{:.2f}", rank.input_bytes / kMega),
           fmt::format("{:.2f}", rank.output_bytes / kMega)});
    }
  }
  page.AddSection("Embeddings of each rank",
                  fmt::format("Of the plan by {}, in the columns of TorchRec's "
                              "table. TW table-wise, CW column-wise, RW "
                              "row-wise, TWRW table-row-wise, DP "
                              "data-parallel.",
                              report.best_row().sharder));
  page.AddHtml(html::BarsHtml(bars));
  page.AddTable(table);
  if (report.ranks.size() > kMostPlanRanksInPage) {
    page.AddNotes({fmt::format("... and {} more ranks",
                               report.ranks.size() - kMostPlanRanksInPage)});
  }
}

void AddTables(const PlanReport& report, html::Page& page) {
  html::Table table{
      .head = {"table", "sharding", "ranks", "rows", "dim", "pooling"},
      .rows = {},
      .words = 3};
  for (size_t i = 0; i < std::min(report.tables.size(), kMostTablesInPage);
       ++i) {
    const PlanTable& row = report.tables[i];
    table.rows.push_back({row.name, std::string(plan::Name(row.sharding)),
                          PlacesText(row, report.ranks.size()),
                          WithThousands(row.rows), fmt::format("{}", row.dim),
                          fmt::format("{:g}", row.pooling)});
  }
  page.AddSection("Tables");
  page.AddTable(table);
  if (report.tables.size() > kMostTablesInPage) {
    page.AddNotes({fmt::format("... and {} more tables",
                               report.tables.size() - kMostTablesInPage)});
  }
}

}  // namespace

std::string PlanHtml(const PlanReport& report, const PredictionReport& step,
                     const ir::Graph& graph,
                     const engine::Prediction& prediction,
                     std::string_view version) {
  const SimulatedStep simulated(prediction);
  html::Page page(TitleText(report), VerdictOf(report, step));
  page.AddFacts(PageFacts(report, step));
  AddSharders(report, page);
  AddRanks(report, page);
  page.AddSection("Where the step goes",
                  fmt::format("With the best plan. {}", kBarsText));
  page.AddHtml(AccountBars(step.ranks));
  page.AddSection("Critical path", kPathText);
  page.AddTable(PathTable(step.critical_path));
  if (graph.data().works.size() <= kMostWorksInTimeline) {
    page.AddSection("Timeline", kTimelineText);
    page.AddHtml(StepTimeline(graph, simulated, SpanOf(prediction)));
  }
  AddTables(report, page);
  page.AddSection("Where the numbers are from",
                  fmt::format("Window: {}. Overheads of the host: {}.",
                              step.subject.window, step.subject.overheads));
  page.AddTable(SourcesTable({&step}, {"share"}));
  if (!report.notes.empty()) {
    page.AddNotes(report.notes);
  }
  return page.Take(version);
}

}  // namespace stepcast::report
