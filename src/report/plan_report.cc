#include "report/plan_report.h"

#include <algorithm>
#include <utility>

#include "plan/ledger.h"

namespace stepcast::report {
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
    const workload::TableGroup& group = problem.tables[i].group;
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

}  // namespace stepcast::report
