#include "report/doctor_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "ir/names.h"
#include "report/rank_text.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

using Align = TextTable::Align;

// Above this many collectives, a row a kind replaces a row each.
constexpr size_t kListedCollectives = 24;

Coverage AllCoverage(const DoctorReport& report) {
  Coverage sum;
  for (const RankReport& rank : report.ranks) {
    sum = Merged(sum, rank.coverage);
  }
  return sum;
}

std::string VerdictText(const DoctorReport& report) {
  const Verdict& verdict = report.verdict;
  std::string text = fmt::format("usable for replay: {}; for prediction: {}",
                                 verdict.replay ? "yes" : "no",
                                 verdict.prediction ? "yes" : "no");
  const Coverage coverage = AllCoverage(report);
  if (!verdict.prediction && coverage.works > 0) {
    text += fmt::format(" (sizes known for {} of {}, {:.0f} % needed)",
                        PercentText(coverage.sized_share()),
                        coverage.time > Duration{} ? "GPU time" : "works",
                        kSizedEnough * 100);
  }
  return text + fmt::format("; missing: {}\n", verdict.missing.empty()
                                                   ? "nothing"
                                                   : Joined(verdict.missing));
}

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

std::string JobText(const DoctorReport& report) {
  std::string text = fmt::format(
      "{}", CountText(static_cast<int64_t>(report.ranks.size()), "rank"));
  const std::string world = Common(report, [](const RankReport& rank) {
    return rank.world_size ? fmt::format("{}", *rank.world_size) : "";
  });
  text += world.empty() ? "" : fmt::format(" of {}", world);
  text += "; " + Common(report, FormatsText);
  text += "; " + Common(report, [](const RankReport& rank) {
            return DevicesText(rank.devices);
          });
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
    } else {
      const ExecutionFacts facts = rank.execution.value_or(ExecutionFacts{});
      cells.push_back(WithThousands(facts.ops));
      cells.push_back(WithThousands(facts.ops_with_shapes));
      cells.resize(8, "-");
    }
    cells.push_back(PercentText(rank.coverage.classified_share()));
    cells.push_back(PercentText(rank.coverage.sized_share()));
    table.AddRow(std::move(cells));
  }
  return "\n" + table.ToString() +
         "  orphans: device events without a launch in the file; classified, "
         "sized: share of GPU\n  time whose kernels are known, whose sizes are "
         "known\n";
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

// How many ranks a kind of oddity was seen in, as " in 2 of 8 files".
std::string WhereText(const DoctorReport& report, const DiagnosticKind& kind) {
  if (report.ranks.size() < 2 || report.diagnostics.count(kind) > 0) {
    return "";
  }
  const auto files = std::ranges::count_if(
      report.ranks,
      [&](const RankReport& rank) { return rank.diagnostics.count(kind) > 0; });
  return fmt::format(" in {} of {} ranks", files, report.ranks.size());
}

std::string OdditiesText(const DoctorReport& report) {
  Diagnostics all = report.diagnostics;
  for (const RankReport& rank : report.ranks) {
    all.Merge(rank.diagnostics);
  }
  if (all.list().empty()) {
    return "\nnothing odd\n";
  }
  std::string text = "\nwhat is odd, and what to do about it\n";
  for (const Severity severity : {Severity::kWarning, Severity::kInfo}) {
    for (const Diagnostic& diagnostic : all.list()) {
      if (diagnostic.kind.severity == severity) {
        text += DiagnosticText(diagnostic, WhereText(report, diagnostic.kind));
      }
    }
  }
  return text;
}

}  // namespace

std::string DoctorText(const DoctorReport& report) {
  std::string text = VerdictText(report);
  if (report.one_job && report.ranks.size() > 1) {
    text += JobText(report) + TimeTable(report) + ContentTable(report) +
            PairingTable(report) + CollectivesText(report) +
            CoverageText(AllCoverage(report));
  } else {
    for (const RankReport& rank : report.ranks) {
      text += "\n" + RankText(rank);
    }
  }
  return text + OdditiesText(report);
}

}  // namespace stepcast::report
