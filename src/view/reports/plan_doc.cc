// The report of sharding plans.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/text_table.h"
#include "base/units.h"
#include "plan/ledger.h"
#include "view/html/bars.h"
#include "view/reports/plan_report.h"
#include "view/reports/step_blocks.h"
#include "view/reports/text_parts.h"
#include "view/timelines/timeline.h"

namespace stepcast::view {
namespace {

// Ids on their way to tables.
constexpr double kIdBytes = 4;

PlanRow RowOf(const plan::Problem& problem, const plan::Candidate& candidate) {
  const plan::Ledger ledger(problem, candidate.choices);
  PlanRow row{.sharder = candidate.sharder,
              .cost_us = candidate.cost.us,
              .cost = candidate.cost,
              .hbm_bytes = *std::ranges::max_element(ledger.bytes()) +
                           ledger.bytes_everywhere() + problem.other_bytes,
              .fits = candidate.cost.over_bytes <= 0,
              .evaluations = candidate.evaluations};
  if (candidate.simulated) {
    row.step_us = ToMicroseconds(candidate.simulated->step);
    row.hbm_bytes = candidate.simulated->hbm_bytes;
    row.fits = candidate.simulated->fits;
  }
  return row;
}

std::vector<PlanRank> RanksOf(const plan::Problem& problem,
                              const plan::Choices& choices) {
  const plan::Ledger ledger(problem, choices);
  const plan::Plan written = plan::PlanOf(problem, choices);
  const double vector =
      static_cast<double>(problem.batch) * problem.element_bytes;
  std::vector<PlanRank> ranks;
  for (int rank = 0; rank < problem.ranks.count; ++rank) {
    const plan::RankSums sums = ledger.SumsOf(rank);
    ranks.push_back(
        {.rank = rank,
         .hbm_bytes = sums.bytes + problem.other_bytes,
         .forward_compute_us = sums.forward_us,
         .forward_comms_us = ledger.ExchangeUs(sums.columns, true),
         .backward_compute_us = sums.backward_us,
         .backward_comms_us = ledger.ExchangeUs(sums.columns, false),
         .input_bytes = sums.ids * problem.ranks.count * kIdBytes});
  }
  for (size_t i = 0; i < written.tables.size(); ++i) {
    const plan::TablePlan& table = written.tables[i];
    const model::TableGroup& group = problem.tables[i].group;
    const double numbers =
        static_cast<double>(group.rows) * static_cast<double>(group.dim);
    const bool copied = table.sharding == plan::Sharding::kDataParallel;
    for (const plan::Shard& shard : table.shards) {
      PlanRank& rank = ranks[static_cast<size_t>(shard.rank)];
      ++rank.shards[static_cast<size_t>(table.sharding)];
      rank.ddr_bytes += problem.tables[i].host_bytes *
                        static_cast<double>(shard.rows) *
                        static_cast<double>(shard.columns) / numbers;
      rank.output_bytes += vector * static_cast<double>(shard.columns) *
                           (copied ? 1 : problem.ranks.count);
    }
  }
  return ranks;
}

std::vector<PlanTable> TablesOf(const plan::Problem& problem,
                                const plan::Choices& choices) {
  const plan::Plan written = plan::PlanOf(problem, choices);
  std::vector<PlanTable> tables;
  for (size_t i = 0; i < problem.tables.size(); ++i) {
    const plan::Table& table = problem.tables[i];
    PlanTable row{.name = table.name,
                  .rows = table.group.rows,
                  .dim = table.group.dim,
                  .pooling = table.group.pooling,
                  .sharding = written.tables[i].sharding};
    for (const plan::Shard& shard : written.tables[i].shards) {
      row.ranks.push_back(shard.rank);
    }
    tables.push_back(std::move(row));
  }
  return tables;
}

}  // namespace

const PlanRow* PlanReport::RowOf(std::string_view sharder) const {
  const auto found = std::ranges::find(rows, sharder, &PlanRow::sharder);
  return found == rows.end() ? nullptr : &*found;
}

PlanReport ReportPlans(const plan::Problem& problem,
                       const plan::FoundPlans& found, PlanSubject subject) {
  PlanReport report{
      .subject = std::move(subject),
      .hbm_capacity_bytes = problem.capacity_bytes + problem.other_bytes,
      .best = found.best,
      .evaluations = found.evaluations,
      .simulations = found.simulations,
      .stopped = found.stopped};
  for (const plan::Candidate& candidate : found.candidates) {
    report.rows.push_back(RowOf(problem, candidate));
  }
  const plan::Choices& best = found.candidates[found.best].choices;
  report.ranks = RanksOf(problem, best);
  report.tables = TablesOf(problem, best);
  if (!report.best_row().fits) {
    report.why_not = plan::FindWhyNot(problem, best);
    report.why_not_text = report.why_not->Text(problem);
  }
  return report;
}

namespace {

// Rows that text shows.
constexpr size_t kPlanRankRows = 32;
constexpr size_t kPlanTableRows = 32;
// Ranks of a table that are listed one by one.
constexpr size_t kMostPlaces = 8;
// With more activities the page has no timeline: this is some ten megabytes.
constexpr size_t kMostActivitiesInTimeline = 100'000;

Bytes BytesOf(double bytes) {
  return {std::llround(bytes)};
}

std::string PlanTitle(const PlanReport& report) {
  const PlanSubject& subject = report.subject;
  std::string text = fmt::format("plan of {} on {} x {}", subject.workload,
                                 subject.num_gpus, subject.gpu);
  if (!subject.platform.empty()) {
    text += subject.nodes > 1
                ? fmt::format(" ({} x {})", subject.nodes, subject.platform)
                : fmt::format(" ({})", subject.platform);
  }
  return fmt::format("{}, {} tables, batch {} per GPU, {}", text,
                     WithThousands(std::ssize(report.tables)),
                     WithThousands(subject.batch_per_gpu), subject.precision);
}

// How much longer a row's step is than another's; nothing if either is not
// known.
Value Against(const PlanRow& row, const PlanRow* other) {
  return other == nullptr || !row.step_us || !other->step_us
             ? Value()
             : Value(Share{*row.step_us / *other->step_us - 1});
}

Value StepOf(const PlanRow& row) {
  return row.step_us ? Value(FromMicroseconds(*row.step_us)) : Value(nullptr);
}

std::string PlanVerdict(const PlanReport& report,
                        const PredictionReport* step) {
  const PlanRow& best = report.best_row();
  if (report.why_not) {
    return fmt::format(
        "nothing fits: {}; would fit with {}; the nearest plan "
        "is by {}",
        report.why_not_text, Join(report.why_not->ways, ", or "), best.sharder);
  }
  std::string text =
      fmt::format("{} ms per step by {}",
                  MillisecondsText(best.step_us.value_or(0)), best.sharder);
  const PlanRow* const torchrec = report.RowOf("torchrec");
  if (torchrec != nullptr && torchrec != &best && torchrec->step_us &&
      best.step_us) {
    text += fmt::format(" ({:+.1f} % against torchrec)",
                        kPercent * (*best.step_us / *torchrec->step_us - 1));
  }
  return step == nullptr ? text
                         : fmt::format("{}, {}", text, StepVerdict(*step));
}

void AddWhyNot(const PlanReport& report, Facts& facts) {
  if (!report.why_not) {
    facts.push_back({{.key = "why_not"}, nullptr});
    return;
  }
  facts.push_back({{.key = "why_not.what"}, report.why_not_text});
  facts.push_back(
      {{.key = "why_not.over_bytes"}, BytesOf(report.why_not->over_bytes)});
  facts.push_back({{.key = "why_not.ways", .label = "would fit with"},
                   report.why_not->ways});
}

Facts PlanFacts(const PlanReport& report) {
  const PlanSubject& subject = report.subject;
  const PlanRow& best = report.best_row();
  Facts facts = {
      {{.key = "workload"}, subject.workload},
      {{.key = "platform"}, subject.platform},
      {{.key = "gpu"}, subject.gpu},
      {{.key = "num_gpus"}, subject.num_gpus},
      {{.key = "nodes"}, subject.nodes},
      {{.key = "batch_per_gpu"}, subject.batch_per_gpu},
      {{.key = "precision"}, subject.precision},
      {{.key = "sharder"}, best.sharder},
      {{.key = "step_time_us", .label = best.step_us ? "step time" : ""},
       FromMicroseconds(best.step_us.value_or(0)),
       fmt::format("by {}", best.sharder)}};
  if (const PlanRow* const torchrec = report.RowOf("torchrec");
      torchrec != nullptr && torchrec->step_us) {
    facts.push_back(
        {{.label = "TorchRec's plan"}, FromMicroseconds(*torchrec->step_us)});
  }
  facts.push_back({{.key = "fits"}, best.fits});
  AddWhyNot(report, facts);
  facts.push_back(
      {{.label = "fullest GPU"},
       BytesOf(best.hbm_bytes),
       fmt::format("of {:.2f} GB{}", report.hbm_capacity_bytes / kGiga,
                   best.fits ? "" : ": DOES NOT FIT")});
  facts.push_back(
      {{.key = "hbm_capacity_bytes"}, BytesOf(report.hbm_capacity_bytes)});
  facts.push_back({{.key = "evaluations", .label = "searched"},
                   report.evaluations,
                   fmt::format("plans by cost, {} simulated{}",
                               WithThousands(report.simulations),
                               report.stopped ? "; stopped early" : "")});
  facts.push_back(
      {{.key = "simulations"}, static_cast<int64_t>(report.simulations)});
  facts.push_back({{.key = "stopped"}, report.stopped});
  return facts;
}

void AddSharders(const PlanReport& report, Doc& doc) {
  html::Bars bars{.parts = {{"lookups forward", "embedding"},
                            {"lookups backward", "compute"},
                            {"exchange", "communication"}},
                  .bars = {}};
  Table table{
      .key = "sharders",
      .title = "sharders",
      .about =
          "Step: as simulated. Cost: what searches go by, the sum of the "
          "slowest ranks' parts; the bars show what of it the plan "
          "decides. Steps that are the same for many plans are the "
          "host's: the device waits for it whatever the plan.",
      .columns = {{.key = "sharder", .label = "sharder"},
                  {.key = "step_time_us", .label = "step"},
                  {.label = "to torchrec", .sign = true},
                  {.key = "cost_us", .label = "cost"},
                  {.key = "forward_us", .label = "forward"},
                  {.key = "backward_us", .label = "backward"},
                  {.key = "exchange_us", .label = "exchange"},
                  {.key = "host_us", .label = "host"},
                  {.key = "hbm_bytes", .label = "HBM"},
                  {.key = "fits"},
                  {.key = "evaluations"},
                  {.label = "verdict"}}};
  const PlanRow* const torchrec = report.RowOf("torchrec");
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const PlanRow& row = report.rows[i];
    const Duration forward = FromMicroseconds(row.cost.forward_us);
    const Duration backward = FromMicroseconds(row.cost.backward_us);
    const Duration exchange = FromMicroseconds(row.cost.forward_exchange_us +
                                               row.cost.backward_exchange_us);
    bars.bars.push_back({row.sharder, {forward, backward, exchange}});
    table.rows.push_back({row.sharder, StepOf(row), Against(row, torchrec),
                          FromMicroseconds(row.cost_us), forward, backward,
                          exchange, FromMicroseconds(row.cost.host_us),
                          BytesOf(row.hbm_bytes), row.fits, row.evaluations,
                          std::string(!row.fits          ? "does not fit"
                                      : i == report.best ? "best"
                                                         : "")});
  }
  doc.csv = table;
  doc.blocks.emplace_back(Picture{
      .title = table.title, .about = table.about, .drawing = std::move(bars)});
  doc.blocks.emplace_back(std::move(table));
}

// "TW: 2 CW: 1"
std::string ShardsText(const PlanRank& rank) {
  std::vector<std::string> kinds;
  for (size_t i = 0; i < rank.shards.size(); ++i) {
    if (rank.shards[i] > 0) {
      kinds.push_back(
          fmt::format("{}: {}", plan::ShortName(static_cast<plan::Sharding>(i)),
                      rank.shards[i]));
    }
  }
  return Join(kinds, " ");
}

// Which rank has most to do, and how much more than others.
std::string BusiestText(const PlanReport& report) {
  double sum = 0;
  const PlanRank* busiest = report.ranks.data();
  for (const PlanRank& rank : report.ranks) {
    sum += rank.perf_us();
    busiest = rank.perf_us() > busiest->perf_us() ? &rank : busiest;
  }
  const double mean = sum / static_cast<double>(report.ranks.size());
  return fmt::format("busiest: rank {} with {} ms, {:.1f} % above the mean",
                     busiest->rank, MillisecondsText(busiest->perf_us()),
                     mean > 0 ? (busiest->perf_us() / mean - 1) * kPercent : 0);
}

void AddRanks(const PlanReport& report, Doc& doc) {
  html::Bars bars{.parts = {{"forward compute", "embedding"},
                            {"backward compute", "compute"},
                            {"forward comms", "communication"},
                            {"backward comms", "idle-sync"}},
                  .bars = {}};
  Table table{
      .key = "ranks",
      .title = "embeddings of each rank",
      .caption = fmt::format("of the plan by {}", report.best_row().sharder),
      .about =
          "In the columns of TorchRec's table. TW table-wise, CW "
          "column-wise, RW row-wise, TWRW table-row-wise, DP "
          "data-parallel.",
      .columns = {{.key = "rank", .label = "rank"},
                  {.key = "hbm_bytes", .label = "HBM"},
                  {.label = "used", .decimals = 0},
                  {.key = "ddr_bytes", .label = "DDR"},
                  {.key = "perf_us", .label = "perf"},
                  {.key = "forward_compute_us", .label = "fwd compute"},
                  {.key = "forward_comms_us", .label = "fwd comms"},
                  {.key = "backward_compute_us", .label = "bwd compute"},
                  {.key = "backward_comms_us", .label = "bwd comms"},
                  {.key = "input_bytes", .label = "input", .unit = "MB"},
                  {.key = "output_bytes", .label = "output", .unit = "MB"},
                  {.label = "shards"}},
      .limit = kPlanRankRows};
  for (size_t i = 0; i < plan::kShardingCount; ++i) {
    table.columns.push_back(
        {.key = fmt::format("shards.{}",
                            plan::Name(static_cast<plan::Sharding>(i)))});
  }
  for (const PlanRank& rank : report.ranks) {
    bars.bars.push_back({fmt::format("rank {}", rank.rank),
                         {FromMicroseconds(rank.forward_compute_us),
                          FromMicroseconds(rank.backward_compute_us),
                          FromMicroseconds(rank.forward_comms_us),
                          FromMicroseconds(rank.backward_comms_us)}});
    std::vector<Value> row = {static_cast<int64_t>(rank.rank),
                              BytesOf(rank.hbm_bytes),
                              Share{rank.hbm_bytes / report.hbm_capacity_bytes},
                              BytesOf(rank.ddr_bytes),
                              FromMicroseconds(rank.perf_us()),
                              FromMicroseconds(rank.forward_compute_us),
                              FromMicroseconds(rank.forward_comms_us),
                              FromMicroseconds(rank.backward_compute_us),
                              FromMicroseconds(rank.backward_comms_us),
                              BytesOf(rank.input_bytes),
                              BytesOf(rank.output_bytes),
                              ShardsText(rank)};
    row.insert(row.end(), rank.shards.begin(), rank.shards.end());
    table.rows.push_back(std::move(row));
  }
  doc.blocks.emplace_back(Picture{
      .title = table.title, .about = table.about, .drawing = std::move(bars)});
  doc.blocks.emplace_back(std::move(table));
  if (!report.ranks.empty()) {
    doc.blocks.emplace_back(Text{.text = BusiestText(report)});
  }
}

// "0 3 5", "0 to 31" or "all", of so many ranks.
std::string PlacesText(const PlanTable& table, size_t ranks) {
  if (table.ranks.size() == ranks && ranks > 1) {
    return "all";
  }
  if (table.ranks.size() > kMostPlaces) {
    return fmt::format("{} to {}", table.ranks.front(), table.ranks.back());
  }
  return Join(table.ranks, " ");
}

Table TableRows(const PlanReport& report) {
  Table table{.key = "tables",
              .title = "tables",
              .columns = {{.key = "table", .label = "table"},
                          {.key = "rows", .label = "rows"},
                          {.key = "dim", .label = "dim"},
                          {.key = "pooling", .label = "pooling"},
                          {.key = "sharding_type", .label = "sharding"},
                          {.key = "ranks"},
                          {.label = "ranks"}},
              .limit = kPlanTableRows};
  for (const PlanTable& row : report.tables) {
    table.rows.push_back(
        {row.name, row.rows, row.dim, row.pooling,
         std::string(plan::Name(row.sharding)),
         std::vector<int64_t>(row.ranks.begin(), row.ranks.end()),
         PlacesText(row, report.ranks.size())});
  }
  return table;
}

// For pages: the step of the best plan.
void AddStep(const PredictionReport& report, const engine::StepResult& step,
             Doc& doc) {
  doc.blocks.emplace_back(
      Picture{.title = "where the step goes",
              .about = fmt::format("With the best plan. {}", kBarsText),
              .drawing = AccountBars(report.ranks)});
  Table path = PathTable(report.critical_path);
  path.key.clear();
  path.readers = Readers::kPages;
  doc.blocks.emplace_back(std::move(path));
  if (step.graph->data().activities.size() <= kMostActivitiesInTimeline) {
    doc.blocks.emplace_back(Picture{.title = "timeline",
                                    .about = std::string(kTimelineText),
                                    .drawing = MakeTimelines([&step] {
                                      return std::vector<NamedTimeline>{
                                          {.timeline = StepTimeline(step)}};
                                    })});
  }
  Table sources = SourceTable({&report}, {"share"});
  sources.about = fmt::format("Window: {}. Overheads of the host: {}.",
                              report.subject.window, report.subject.overheads);
  sources.readers = Readers::kPages;
  doc.blocks.emplace_back(std::move(sources));
}

}  // namespace

Doc PlanDoc(const PlanReport& report) {
  Doc doc;
  doc.title = PlanTitle(report);
  doc.verdict = PlanVerdict(report, nullptr);
  doc.blocks.emplace_back(PlanFacts(report));
  AddSharders(report, doc);
  AddRanks(report, doc);
  doc.blocks.emplace_back(TableRows(report));
  doc.blocks.emplace_back(Notes{report.notes});
  return doc;
}

Doc PlanDoc(const PlanReport& report, const PredictionReport& step,
            const engine::StepResult& result) {
  Doc doc = PlanDoc(report);
  doc.verdict = PlanVerdict(report, &step);
  AddStep(step, result, doc);
  return doc;
}

}  // namespace stepcast::view
