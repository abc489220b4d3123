#include "report/job_text.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "ir/names.h"
#include "report/rank_text.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

// Above this many collectives, a row a kind replaces a row each.
constexpr size_t kListedCollectives = 24;

// The one text that all ranks share, or "various".
template <typename Describe>
std::string Common(const DoctorReport& report, Describe describe) {
  const std::string first = describe(report.ranks.front());
  const bool same = std::ranges::all_of(
      report.ranks,
      [&](const RankReport& rank) { return describe(rank) == first; });
  return same ? first : "various";
}

std::string FormatsText(const RankReport& rank) {
  std::vector<std::string> formats;
  for (const FileFacts& file : rank.files) {
    formats.push_back(FormatText(file));
  }
  return fmt::format("{}", fmt::join(formats, " + "));
}

std::string HeadText(const DoctorReport& report) {
  std::string text = fmt::format(
      "{}", CountText(static_cast<int64_t>(report.ranks.size()), "rank"));
  const std::string world = Common(report, [](const RankReport& rank) {
    return rank.world_size ? fmt::format("{}", *rank.world_size) : "";
  });
  text += world.empty() ? "" : fmt::format(" of {}", world);
  text += "; " + Common(report, FormatsText);
  const std::string devices = Common(report, [](const RankReport& rank) {
    return rank.trace ? DevicesText(rank.devices) : "";
  });
  text += devices.empty() ? "" : "; " + devices;
  return text + "\n";
}

Duration MedianStep(const TraceFacts& facts) {
  std::vector<Duration> times;
  for (const StepFacts& step : facts.steps) {
    times.push_back(step.duration);
  }
  if (times.empty()) {
    return {};
  }
  std::ranges::sort(times);
  return times[(times.size() - 1) / 2];
}

constexpr size_t kPathWidth = 40;

std::string FirstFileText(const RankReport& rank) {
  return rank.files.empty()
             ? ""
             : ElideMiddle(Printable(rank.files.front().path), kPathWidth);
}

std::string TimeTable(const DoctorReport& report) {
  std::vector<Align> columns(8, Align::kRight);
  columns.back() = Align::kLeft;
  TextTable table(columns, "  ");
  table.AddRow({"rank", "steps", "step ms", "busy ms", "span ms", "busy",
                "collectives ms", "file"});
  for (const RankReport& rank : report.ranks) {
    std::vector<std::string> cells = {fmt::format("{}", rank.rank)};
    cells.resize(7, "-");
    if (rank.trace) {
      const TraceFacts& facts = *rank.trace;
      cells = {fmt::format("{}", rank.rank),
               fmt::format("{}", facts.steps.size()),
               MillisecondsText(MedianStep(facts)),
               MillisecondsText(facts.busy),
               MillisecondsText(facts.span),
               PercentText(facts.busy, facts.span),
               MillisecondsText(facts.collective_busy)};
    }
    cells.push_back(
        rank.files.empty()
            ? ""
            : ElideMiddle(Printable(rank.files.front().path), kPathWidth));
    table.AddRow(std::move(cells));
  }
  return "\n" + table.ToString() +
         "  step: the median one; busy: union of kernels, copies and memsets; "
         "span: their first\n  start to last end; collectives: busy with them, "
         "waiting for other ranks included\n";
}

std::string ContentTable(const DoctorReport& report) {
  TextTable table(std::vector<Align>(10, Align::kRight), "  ");
  table.AddRow({"rank", "ops", "shapes", "calls", "kernels", "copies",
                "streams", "orphans", "classified", "sized"});
  for (const RankReport& rank : report.ranks) {
    std::vector<std::string> cells = {fmt::format("{}", rank.rank)};
    if (rank.trace) {
      const TraceFacts& facts = *rank.trace;
      for (const int64_t count :
           {facts.ops, facts.ops_with_shapes, facts.runtime_calls,
            facts.kernels, facts.copies, facts.streams, facts.orphans}) {
        cells.push_back(WithThousands(count));
      }
    }
    cells.resize(8, "-");
    cells.push_back(PercentText(rank.coverage.classified_share()));
    cells.push_back(PercentText(rank.coverage.sized_share()));
    table.AddRow(std::move(cells));
  }
  return "\n" + table.ToString() +
         "  orphans: device events without a launch in the file; classified, "
         "sized: share of GPU\n  time whose kernels are known, whose sizes are "
         "known\n";
}

// For ranks that have execution traces only.
std::string ExecutionTable(const DoctorReport& report) {
  std::vector<Align> columns(7, Align::kRight);
  columns.back() = Align::kLeft;
  TextTable table(columns, "  ");
  table.AddRow(
      {"rank", "ops", "shapes", "device nodes", "classified", "sized", "file"});
  for (const RankReport& rank : report.ranks) {
    const ExecutionFacts facts = rank.execution.value_or(ExecutionFacts{});
    table.AddRow({fmt::format("{}", rank.rank), WithThousands(facts.ops),
                  WithThousands(facts.ops_with_shapes),
                  WithThousands(facts.device_nodes),
                  PercentText(rank.coverage.classified_share()),
                  PercentText(rank.coverage.sized_share()),
                  FirstFileText(rank)});
  }
  return "\n" + table.ToString();
}

std::string PairingTable(const DoctorReport& report) {
  TextTable table({Align::kRight, Align::kLeft, Align::kRight}, "  ");
  table.AddRow({"rank", "execution trace: nodes x exact matches of its threads",
                "shapes that differ"});
  bool any = false;
  for (const RankReport& rank : report.ranks) {
    if (!rank.pairing) {
      continue;
    }
    any = true;
    std::vector<std::string> threads;
    for (const ThreadPairing& thread : rank.pairing->threads) {
      threads.push_back(
          fmt::format("{} x {}", WithThousands(thread.nodes), thread.matches));
    }
    table.AddRow(
        {fmt::format("{}", rank.rank), Joined(threads),
         fmt::format("{} of {}", WithThousands(rank.pairing->different_shapes),
                     WithThousands(rank.pairing->compared_shapes))});
  }
  return any ? "\n" + table.ToString() : "";
}

std::string RankTables(const DoctorReport& report) {
  const bool any_trace = std::ranges::any_of(
      report.ranks,
      [](const RankReport& rank) { return rank.trace.has_value(); });
  return any_trace
             ? TimeTable(report) + ContentTable(report) + PairingTable(report)
             : ExecutionTable(report);
}

std::string CollectiveList(const std::vector<CollectiveFacts>& list) {
  TextTable table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight},
                  "  ");
  table.AddRow({"#", "kind", "bytes a rank", "start skew us", "own time us",
                "ends differ us", "last rank"});
  for (size_t i = 0; i < list.size(); ++i) {
    table.AddRow({fmt::format("{}", i + 1), std::string(ir::Name(list[i].kind)),
                  BytesText(list[i].bytes), MicrosecondsText(list[i].skew),
                  MicrosecondsText(list[i].own),
                  MicrosecondsText(list[i].end_skew),
                  fmt::format("{}", list[i].last_rank)});
  }
  return table.ToString();
}

std::string CollectiveKinds(const std::vector<CollectiveFacts>& list) {
  struct Sum {
    int64_t count = 0;
    Duration skew{};
    Duration max_skew{};
    Duration own{};
  };
  std::map<std::string_view, Sum> kinds;
  for (const CollectiveFacts& facts : list) {
    Sum& sum = kinds[ir::Name(facts.kind)];
    ++sum.count;
    sum.skew += facts.skew;
    sum.max_skew = std::max(sum.max_skew, facts.skew);
    sum.own += facts.own;
  }
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight},
                  "  ");
  table.AddRow(
      {"kind", "count", "start skew us, sum", "largest", "own time us, sum"});
  for (const auto& [kind, sum] : kinds) {
    table.AddRow({std::string(kind), WithThousands(sum.count),
                  MicrosecondsText(sum.skew), MicrosecondsText(sum.max_skew),
                  MicrosecondsText(sum.own)});
  }
  return table.ToString();
}

std::string CollectivesText(const DoctorReport& report) {
  const auto& list = report.collectives;
  if (list.empty()) {
    return "";
  }
  return fmt::format(
             "\n  collectives of step {}, matched across ranks; start skew: "
             "first to last start;\n  own time: last start to last end\n",
             report.collectives_step.value_or(0)) +
         (list.size() <= kListedCollectives ? CollectiveList(list)
                                            : CollectiveKinds(list));
}

}  // namespace

std::string JobText(const DoctorReport& report) {
  return HeadText(report) + RankTables(report) + CollectivesText(report);
}

}  // namespace stepcast::report
