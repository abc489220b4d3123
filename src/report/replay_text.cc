#include "report/replay_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "report/breakdown.h"
#include "report/step_details_text.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

using engine::RankAccount;
using engine::ReplayedRank;

// How many rows are shown; the JSON has them all.
constexpr size_t kStepRows = 24;
constexpr size_t kWorstSteps = 8;
constexpr size_t kFamilyColumns = 5;

std::string SignedPercent(double share) {
  return fmt::format("{:+.2f} %", kPercent * share);
}

std::string VerdictText(const ReplayReport& report) {
  const size_t ranks = report.details.accounts.size();
  const std::string whose =
      ranks == 1 ? "" : fmt::format(" on {} ranks", ranks);
  std::string text =
      report.steps.size() == 1
          ? fmt::format("replayed {}{}", StepText(report.steps[0].step), whose)
          : fmt::format(
                "replayed {}{}",
                CountText(static_cast<int64_t>(report.steps.size()), "step"),
                whose);
  text += fmt::format(": simulated within {:.2f} % of measured",
                      report.max_abs_pct);
  constexpr double kShown = 0.005;  // Less is 0.00.
  if (report.errors.n > 1 && report.max_abs_pct >= kShown) {
    text +=
        fmt::format(", {:.3f} % in the geometric mean", report.errors.gmae_pct);
  }
  return text + "\n";
}

// One rank of one step; of many, the worst rank of each step, or the worst.
struct ReplayRow {
  const ReplayedStep* step = nullptr;
  const ReplayedRank* rank = nullptr;
};

std::vector<ReplayRow> StepRows(const ReplayReport& report) {
  const auto by_error = [](const ReplayedRank& rank) {
    return std::abs(rank.error());
  };
  const size_t ranks = report.details.accounts.size();
  std::vector<ReplayRow> rows;
  for (const ReplayedStep& step : report.steps) {
    if (report.steps.size() * ranks > kStepRows && report.steps.size() > 1) {
      rows.push_back(
          {.step = &step,
           .rank = &*std::ranges::max_element(step.ranks, {}, by_error)});
      continue;
    }
    for (const ReplayedRank& rank : step.ranks) {
      rows.push_back({.step = &step, .rank = &rank});
    }
  }
  if (rows.size() > kStepRows) {
    std::ranges::stable_sort(rows, [&](const ReplayRow& a, const ReplayRow& b) {
      return by_error(*a.rank) > by_error(*b.rank);
    });
    rows.resize(kWorstSteps);
    std::ranges::stable_sort(rows, {}, &ReplayRow::step);
  }
  return rows;
}

std::string StepTable(const ReplayReport& report) {
  const bool several_steps = report.steps.size() > 1;
  std::vector<Align> columns(several_steps ? 8 : 7, Align::kRight);
  TextTable table(columns, "  ");
  std::vector<std::string> head = {
      "rank",          "measured ms",  "simulated ms",  "error",
      "GPU active ms", "simulated ms", "unexplained us"};
  if (several_steps) {
    head.insert(head.begin(), "step");
  }
  table.AddRow(head);
  const std::vector<ReplayRow> rows = StepRows(report);
  for (const ReplayRow& row : rows) {
    const ReplayedRank& rank = *row.rank;
    std::vector<std::string> cells = {
        fmt::format("{}", rank.rank),
        MillisecondsText(rank.measured),
        MillisecondsText(rank.simulated),
        SignedPercent(rank.error()),
        MillisecondsText(rank.gpu_active_measured),
        MillisecondsText(rank.gpu_active_simulated),
        MicrosecondsText(rank.unexplained)};
    if (several_steps) {
      cells.insert(cells.begin(),
                   fmt::format("{}", row.step->step.value_or(0)));
    }
    table.AddRow(std::move(cells));
  }
  const size_t all = report.steps.size() * report.details.accounts.size();
  std::string text = "\n" + table.ToString();
  if (rows.size() < all) {
    text += fmt::format("  {} of {}, those with the largest error\n",
                        rows.size(), all);
  }
  for (const UnreplayedStep& skipped : report.skipped) {
    text += fmt::format("  {} is left out: {}\n", StepText(skipped.step),
                        Printable(skipped.why));
  }
  return text;
}

struct Column {
  std::string name;
  std::vector<Duration> times;  // By rank.
};

// The same columns for all ranks: the families that took most, the rest, and
// everything that is no kernel.
std::vector<Column> TimeColumns(const std::vector<RankAccount>& accounts) {
  std::map<std::string, std::vector<Duration>> families;
  for (size_t i = 0; i < accounts.size(); ++i) {
    for (const auto& [family, time] : KernelTimes(accounts[i])) {
      auto& times = families[family];
      times.resize(accounts.size());
      times[i] += time;
    }
  }
  std::vector<Column> columns;
  columns.reserve(families.size());
  for (auto& [family, times] : families) {
    columns.push_back({.name = family, .times = std::move(times)});
  }
  const auto sum_of = [](const Column& column) {
    Duration sum{};
    for (const Duration time : column.times) {
      sum += time;
    }
    return sum;
  };
  std::ranges::stable_sort(columns, [&](const Column& a, const Column& b) {
    return sum_of(a) > sum_of(b);
  });
  if (columns.size() > kFamilyColumns) {
    Column rest{.name = "other kernels",
                .times = std::vector<Duration>(accounts.size())};
    for (size_t i = kFamilyColumns; i < columns.size(); ++i) {
      for (size_t rank = 0; rank < accounts.size(); ++rank) {
        rest.times[rank] += columns[i].times[rank];
      }
    }
    columns.resize(kFamilyColumns);
    columns.push_back(std::move(rest));
  }
  const auto add = [&](std::string name, auto get) {
    Column column{.name = std::move(name), .times = {}};
    for (const RankAccount& account : accounts) {
      column.times.push_back(get(account));
    }
    columns.push_back(std::move(column));
  };
  add("copies", [](const RankAccount& a) { return a.copies_exposed; });
  add("collectives",
      [](const RankAccount& a) { return a.communication_exposed; });
  add("idle host", [](const RankAccount& a) { return a.idle.host; });
  add("idle launch", [](const RankAccount& a) { return a.idle.launch; });
  add("idle sync", [](const RankAccount& a) { return a.idle.sync; });
  add("idle ranks", [](const RankAccount& a) { return a.idle.wait_for_rank; });
  std::erase_if(columns,
                [&](const Column& item) { return sum_of(item) == Duration{}; });
  return columns;
}

std::string TimeTable(const StepDetails& details) {
  const std::vector<Column> columns = TimeColumns(details.accounts);
  TextTable table(std::vector<Align>(columns.size() + 2, Align::kRight), "  ");
  std::vector<std::string> head = {"rank", "step ms"};
  for (const Column& column : columns) {
    head.push_back(column.name);
  }
  table.AddRow(head);
  for (size_t i = 0; i < details.accounts.size(); ++i) {
    const RankAccount& account = details.accounts[i];
    std::vector<std::string> times = {fmt::format("{}", account.rank),
                                      MillisecondsText(account.step)};
    std::vector<std::string> shares = {"", ""};
    for (const Column& column : columns) {
      times.push_back(MillisecondsText(column.times[i]));
      shares.push_back(PercentText(column.times[i], account.step));
    }
    table.AddRow(std::move(times));
    if (details.accounts.size() == 1) {
      table.AddRow(std::move(shares));
    }
  }
  return fmt::format(
      "\nwhere the time of {} went, simulated; a row sums to its step\n{}"
      "  copies, collectives: what no kernel hides; idle: nothing ran, as the "
      "host was busy with\n  something else, from a call to its work, while "
      "the "
      "host came back from a sync, or while\n  other ranks were not yet in a "
      "collective\n",
      StepText(details.step), table.ToString());
}

}  // namespace

std::string ReplayText(const ReplayReport& report) {
  return VerdictText(report) + StepTable(report) + TimeTable(report.details) +
         CollectiveText(report.details) + PathText(report.details) +
         UnexplainedText(report.details);
}

}  // namespace stepcast::report
