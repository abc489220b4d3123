#include "report/replay_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "ir/names.h"
#include "report/breakdown.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

using Align = TextTable::Align;
using engine::CollectiveBlame;
using engine::RankAccount;
using engine::ReplayedRank;

constexpr double kPercent = 100;
// How many rows are shown; the JSON has them all.
constexpr size_t kStepRows = 24;
constexpr size_t kWorstSteps = 8;
constexpr size_t kFamilies = 5;
constexpr size_t kCollectives = 12;
constexpr size_t kHops = 12;
constexpr size_t kLongest = 10;
constexpr size_t kUnexplained = 5;
constexpr size_t kNameWidth = 60;

std::string StepText(const std::optional<int64_t>& step) {
  return step ? fmt::format("step {}", *step) : "the step";
}

std::string SignedPercent(double share) {
  return fmt::format("{:+.2f} %", kPercent * share);
}

std::string MoreText(size_t all, size_t shown) {
  return shown < all ? fmt::format("  and {} more\n", all - shown) : "";
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
  if (report.errors.n > 1) {
    text +=
        fmt::format(", {:.3f} % in the geometric mean", report.errors.gmae_pct);
  }
  return text + "\n";
}

// One rank of one step; of many, the worst rank of each step, or the worst.
struct StepRow {
  const ReplayedStep* step = nullptr;
  const ReplayedRank* rank = nullptr;
};

std::vector<StepRow> StepRows(const ReplayReport& report) {
  const auto by_error = [](const ReplayedRank& rank) {
    return std::abs(rank.error());
  };
  const size_t ranks = report.details.accounts.size();
  std::vector<StepRow> rows;
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
    std::ranges::stable_sort(rows, [&](const StepRow& a, const StepRow& b) {
      return by_error(*a.rank) > by_error(*b.rank);
    });
    rows.resize(kWorstSteps);
    std::ranges::stable_sort(rows, {}, &StepRow::step);
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
  const std::vector<StepRow> rows = StepRows(report);
  for (const StepRow& row : rows) {
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
  for (const SkippedStep& skipped : report.skipped) {
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
  if (columns.size() > kFamilies) {
    Column rest{.name = "other kernels",
                .times = std::vector<Duration>(accounts.size())};
    for (size_t i = kFamilies; i < columns.size(); ++i) {
      for (size_t rank = 0; rank < accounts.size(); ++rank) {
        rest.times[rank] += columns[i].times[rank];
      }
    }
    columns.resize(kFamilies);
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

std::string CollectiveTable(const StepDetails& details) {
  if (details.collectives.empty()) {
    return "";
  }
  // Of many, those that cost most, in their order.
  std::vector<size_t> shown(details.collectives.size());
  for (size_t i = 0; i < shown.size(); ++i) {
    shown[i] = i;
  }
  if (shown.size() > kCollectives) {
    std::ranges::stable_sort(shown, [&](size_t a, size_t b) {
      return details.collectives[a].start_skew >
             details.collectives[b].start_skew;
    });
    shown.resize(kCollectives);
    std::ranges::sort(shown);
  }
  TextTable table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kRight, Align::kLeft},
                  "  ");
  table.AddRow({"#", "kind", "own us", "start skew us", "last rank",
                "why the last rank came late"});
  for (const size_t i : shown) {
    const CollectiveBlame& item = details.collectives[i];
    table.AddRow({fmt::format("{}", i), std::string(ir::Name(item.kind)),
                  MicrosecondsText(item.own), MicrosecondsText(item.start_skew),
                  fmt::format("{}", item.last_rank), Printable(item.blame)});
  }
  return fmt::format(
      "\ncollectives of {}; own: once all ranks are there; start skew: how "
      "long the first rank waits\n{}{}",
      StepText(details.step), table.ToString(),
      MoreText(details.collectives.size(), shown.size()));
}

std::string HopText(const PathHop& hop,
                    const std::map<ir::CollectiveId, size_t>& indices) {
  std::vector<std::string> parts;
  for (const PathShare& share : hop.most) {
    constexpr int kTenth = 10;
    if (share.time * kTenth >= hop.end - hop.begin) {
      parts.push_back(
          fmt::format("{} {}", MillisecondsText(share.time),
                      ElideMiddle(Printable(share.what), kNameWidth)));
    }
  }
  std::string text = Joined(parts);
  if (hop.collective) {
    const auto found = indices.find(*hop.collective);
    text += found == indices.end()
                ? "; the next waits for it"
                : fmt::format("; the next waits for it in #{}", found->second);
  }
  return text;
}

std::string HopTable(const StepDetails& details) {
  std::map<ir::CollectiveId, size_t> indices;
  for (size_t i = 0; i < details.collectives.size(); ++i) {
    indices[details.collectives[i].id] = i;
  }
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft},
                  "  ");
  table.AddRow({"at ms", "ms", "on rank", "mostly"});
  const std::vector<PathHop>& hops = details.path.hops;
  const size_t shown = std::min(hops.size(), kHops);
  for (size_t i = 0; i < shown; ++i) {
    table.AddRow({MillisecondsText(hops[i].begin),
                  MillisecondsText(hops[i].end - hops[i].begin),
                  fmt::format("{}", hops[i].rank), HopText(hops[i], indices)});
  }
  return table.ToString() + MoreText(hops.size(), shown);
}

std::string PathText(const StepDetails& details) {
  const PathSummary& path = details.path;
  std::string text = fmt::format(
      "\nwhat decided the length of {}: {} ms to the end of rank {}: {}\n",
      StepText(details.step), MillisecondsText(path.length), details.path_rank,
      PathKindsText(path.kinds, path.length));
  if (path.hops.size() > 1) {
    text += HopTable(details);
  }
  TextTable table(
      {Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft},
      "  ");
  table.AddRow({"ms", "share", "times", "kind", "longest on this path"});
  const size_t shown = std::min(path.longest.size(), kLongest);
  for (size_t i = 0; i < shown; ++i) {
    const PathShare& share = path.longest[i];
    table.AddRow({MillisecondsText(share.time),
                  PercentText(share.time, path.length),
                  WithThousands(static_cast<int64_t>(share.times)),
                  std::string(Name(share.kind)),
                  ElideMiddle(Printable(share.what), kNameWidth)});
  }
  return text + table.ToString();
}

std::string UnexplainedText(const StepDetails& details) {
  std::string text;
  if (details.unexplained.empty()) {
    text =
        fmt::format("\nnothing of {} is unexplained\n", StepText(details.step));
  } else {
    TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft},
                    "  ");
    table.AddRow({"us", "rank", "at ms", "what"});
    const size_t shown = std::min(details.unexplained.size(), kUnexplained);
    for (size_t i = 0; i < shown; ++i) {
      const engine::Unexplained& item = details.unexplained[i];
      table.AddRow({MicrosecondsText(item.time), fmt::format("{}", item.rank),
                    MillisecondsText(item.at),
                    ElideMiddle(Printable(item.what), 2 * kNameWidth)});
    }
    text = fmt::format(
        "\nunexplained in {}: time that nothing in the trace "
        "gives a cause for\n{}{}",
        StepText(details.step), table.ToString(),
        MoreText(details.unexplained.size(), shown));
  }
  if (details.unplaced > 0) {
    text += fmt::format(
        "  {} without a time left out\n",
        CountText(static_cast<int64_t>(details.unplaced), "op or call"));
  }
  return text;
}

}  // namespace

std::string ReplayText(const ReplayReport& report) {
  return VerdictText(report) + StepTable(report) + TimeTable(report.details) +
         CollectiveTable(report.details) + PathText(report.details) +
         UnexplainedText(report.details);
}

}  // namespace stepcast::report
