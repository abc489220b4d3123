// Plans for people.
#include <algorithm>

#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "report/plan_report.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

// Ranks and tables shown; --json has all.
constexpr size_t kMostPlanRanksInText = 32;
constexpr size_t kMostTablesInText = 32;
// Ranks of a table that are listed one by one.
constexpr size_t kMostPlaces = 8;

std::string Headline(const PlanReport& report) {
  const PlanRow& best = report.best_row();
  std::string text;
  if (report.why_not) {
    text += fmt::format("nothing fits: {}\n", report.why_not_text);
    text += fmt::format("would fit    with {}\n",
                        fmt::join(report.why_not->ways, ", or "));
    text += fmt::format("nearest plan by {}\n", best.sharder);
  } else if (best.step_us) {
    text += fmt::format("step time    {} ms   by {}",
                        MillisecondsText(*best.step_us), best.sharder);
    const PlanRow* const torchrec = report.RowOf("torchrec");
    if (torchrec != nullptr && torchrec != &best && torchrec->step_us) {
      text += fmt::format(", torchrec {} ms ({})",
                          MillisecondsText(*torchrec->step_us),
                          AgainstText(best, torchrec));
    }
    text += "\n";
  }
  text += fmt::format("searched     {} plans by cost, {} simulated{}\n",
                      WithThousands(report.evaluations),
                      WithThousands(report.simulations),
                      report.stopped ? "; stopped early" : "");
  return text;
}

std::string SharderTable(const PlanReport& report) {
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
       Align::kRight, Align::kRight, Align::kRight, Align::kLeft},
      "  ");
  table.AddRow({"sharder", "step ms", "torchrec", "cost ms", "forward",
                "backward", "exchange", "host", "HBM GB", ""});
  const PlanRow* const torchrec = report.RowOf("torchrec");
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const PlanRow& row = report.rows[i];
    const std::string remark = !row.fits          ? "does not fit"
                               : i == report.best ? "<- best"
                                                  : "";
    table.AddRow({row.sharder,
                  row.step_us ? MillisecondsText(*row.step_us) : "-",
                  AgainstText(row, torchrec), MillisecondsText(row.cost_us),
                  MillisecondsText(row.cost.forward_us),
                  MillisecondsText(row.cost.backward_us),
                  MillisecondsText(row.cost.forward_exchange_us +
                                   row.cost.backward_exchange_us),
                  MillisecondsText(row.cost.host_us),
                  fmt::format("{:.2f}", row.hbm_bytes / kGiga), remark});
  }
  return fmt::format(
      "\nsharders (step as simulated; cost is the sum of the slowest ranks' "
      "parts)\n{}",
      table.ToString());
}

std::string RankTable(const PlanReport& report) {
  const Align right = Align::kRight;
  TextTable table({right, right, right, right, right, right, right, right,
                   right, right, right, Align::kLeft},
                  "  ");
  table.AddRow({"Rank", "HBM (GB)", "%", "DDR (GB)", "Perf (ms)", "fwd compute",
                "fwd comms", "bwd compute", "bwd comms", "Input (MB)",
                "Output (MB)", "Shards"});
  for (const PlanRank& rank : report.ranks) {
    if (static_cast<size_t>(rank.rank) == kMostPlanRanksInText) {
      break;
    }
    table.AddRow({fmt::format("{}", rank.rank),
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
                  fmt::format("{:.2f}", rank.output_bytes / kMega),
                  ShardsText(rank)});
  }
  std::string text = fmt::format("\nranks of the plan by {}\n{}",
                                 report.best_row().sharder, table.ToString());
  if (report.ranks.size() > kMostPlanRanksInText) {
    text += fmt::format("  ... and {} more\n",
                        report.ranks.size() - kMostPlanRanksInText);
  }
  double sum = 0;
  const PlanRank* busiest = report.ranks.data();
  for (const PlanRank& rank : report.ranks) {
    sum += rank.perf_us();
    busiest = rank.perf_us() > busiest->perf_us() ? &rank : busiest;
  }
  const double mean = sum / static_cast<double>(report.ranks.size());
  text +=
      fmt::format("  busiest: rank {} with {} ms, {:.1f} % above the mean\n",
                  busiest->rank, MillisecondsText(busiest->perf_us()),
                  mean > 0 ? (busiest->perf_us() / mean - 1) * 100 : 0);
  return text;
}

std::string TableTable(const PlanReport& report) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kLeft, Align::kLeft},
                  "  ");
  table.AddRow({"table", "rows", "dim", "pooling", "sharding", "ranks"});
  for (size_t i = 0; i < std::min(report.tables.size(), kMostTablesInText);
       ++i) {
    const PlanTable& row = report.tables[i];
    table.AddRow({row.name, WithThousands(row.rows), fmt::format("{}", row.dim),
                  fmt::format("{:g}", row.pooling),
                  std::string(plan::Name(row.sharding)),
                  PlacesText(row, report.ranks.size())});
  }
  std::string text = fmt::format("\ntables\n{}", table.ToString());
  if (report.tables.size() > kMostTablesInText) {
    text += fmt::format("  ... and {} more\n",
                        report.tables.size() - kMostTablesInText);
  }
  return text;
}

}  // namespace

std::string TitleText(const PlanReport& report) {
  const PlanSubject& subject = report.subject;
  std::string text = fmt::format("plan of {} on {} x {}", subject.workload,
                                 subject.num_gpus, subject.gpu);
  if (!subject.platform.empty()) {
    text += subject.nodes > 1
                ? fmt::format(" ({} x {})", subject.nodes, subject.platform)
                : fmt::format(" ({})", subject.platform);
  }
  return fmt::format("{}, {} tables, batch {} a GPU, {}", text,
                     WithThousands(std::ssize(report.tables)),
                     WithThousands(subject.batch_per_gpu), subject.precision);
}

std::string AgainstText(const PlanRow& row, const PlanRow* other) {
  if (other == nullptr || !row.step_us || !other->step_us) {
    return "";
  }
  return fmt::format("{:+.1f} %", (*row.step_us / *other->step_us - 1) * 100);
}

std::string ShardsText(const PlanRank& rank) {
  std::vector<std::string> kinds;
  for (size_t i = 0; i < rank.shards.size(); ++i) {
    if (rank.shards[i] > 0) {
      kinds.push_back(
          fmt::format("{}: {}", plan::ShortName(static_cast<plan::Sharding>(i)),
                      rank.shards[i]));
    }
  }
  return fmt::format("{}", fmt::join(kinds, " "));
}

std::string PlacesText(const PlanTable& table, size_t ranks) {
  if (table.ranks.size() == ranks && ranks > 1) {
    return "all";
  }
  if (table.ranks.size() > kMostPlaces) {
    return fmt::format("{} to {}", table.ranks.front(), table.ranks.back());
  }
  return fmt::format("{}", fmt::join(table.ranks, " "));
}

std::string PlanText(const PlanReport& report) {
  std::string text = TitleText(report) + "\n\n" + Headline(report) +
                     SharderTable(report) + RankTable(report) +
                     TableTable(report);
  for (const std::string& note : report.notes) {
    text += fmt::format("\nnote: {}\n", note);
  }
  return text;
}

}  // namespace stepcast::report
