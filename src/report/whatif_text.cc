// What changes do to a step, for people.
#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "report/path_summary.h"
#include "report/text_parts.h"
#include "report/whatif.h"

namespace stepcast::report {
namespace {

constexpr size_t kMostPathChangesInText = 6;

// A name, before, after, the difference and its share.
class ChangeTable {
 public:
  ChangeTable()
      : table_({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                Align::kRight},
               "  ") {}

  void Head(std::string title) {
    table_.AddRow({std::move(title), "before ms", "after ms", "delta ms", ""});
  }
  void Add(std::string name, Duration before, Duration after) {
    table_.AddRow({std::move(name), MillisecondsText(before),
                   MillisecondsText(after), DeltaText(after - before),
                   DeltaPercentText(after - before, before)});
  }
  std::string ToString() const { return table_.ToString(); }

 private:
  TextTable table_;
};

std::string Headline(const WhatifReport& report) {
  ChangeTable table;
  table.Head("");
  table.Add("step time", report.before.step, report.after.step);
  table.Add("GPU active", report.before.slowest.gpu_active,
            report.after.slowest.gpu_active);
  table.Add("host busy", report.before.slowest.host_busy,
            report.after.slowest.host_busy);
  std::string text = "\n" + table.ToString();
  if (report.delta.p10 != report.delta.p90) {
    text +=
        fmt::format("\nchange of the step time: p10 {} ms, p90 {} ms\n",
                    DeltaText(report.delta.p10), DeltaText(report.delta.p90));
  }
  if (report.before.samples_per_s > 0 && report.after.samples_per_s > 0) {
    text += fmt::format(
        "throughput: {} -> {} samples/s\n",
        WithThousands(static_cast<int64_t>(report.before.samples_per_s)),
        WithThousands(static_cast<int64_t>(report.after.samples_per_s)));
  }
  return text;
}

// Whose the accounts are, where there are several.
std::string RanksText(const WhatifReport& report) {
  if (report.before.ranks.size() < 2 && report.after.ranks.size() < 2) {
    return "";
  }
  const int64_t before = report.before.slowest.rank;
  const int64_t after = report.after.slowest.rank;
  return before == after
             ? fmt::format(", rank {}, the slowest", before)
             : fmt::format(", the slowest: rank {} before, {} after", before,
                           after);
}

std::string Breakdown(const WhatifReport& report) {
  ChangeTable table;
  table.Head("where the time goes" + RanksText(report));
  for (const PartDifference& part : PartsOf(report)) {
    table.Add(std::string(PartText(part.name)), part.a, part.b);
  }
  return "\n" + table.ToString();
}

std::string Path(const WhatifReport& report) {
  ChangeTable table;
  table.Head("critical path, what changed most");
  for (size_t i = 0; i < report.path.size() && i < kMostPathChangesInText;
       ++i) {
    const PathChange& change = report.path[i];
    constexpr size_t kWidth = 60;
    table.Add(ElideMiddle(Printable(change.what), kWidth), change.before,
              change.after);
  }
  return report.path.empty() ? "\nthe critical path is as it was\n"
                             : "\n" + table.ToString();
}

std::string NextBottleneck(const PathSummary& path) {
  if (path.longest.empty()) {
    return "";
  }
  const PathShare& share = path.longest.front();
  return fmt::format(
      "\nnext bottleneck: {} ms {} ({} of the critical path); the path is {}\n",
      MillisecondsText(share.time), Printable(share.what),
      PercentText(share.time, path.length),
      PathKindsText(path.kinds, path.length));
}

std::string Memory(const WhatifReport& report) {
  if (!report.before.memory || !report.after.memory) {
    return "";
  }
  return fmt::format("memory: {:.2f} -> {:.2f} GB of {:.2f}{}\n",
                     report.before.memory->hbm_bytes / kGiga,
                     report.after.memory->hbm_bytes / kGiga,
                     report.after.memory->hbm_capacity_bytes / kGiga,
                     report.after.memory->fits() ? "" : ": DOES NOT FIT");
}

}  // namespace

std::string WhatifText(const WhatifReport& report) {
  std::string text = SubjectText(report.before.subject) + "\n";
  for (const std::string& change : report.changes) {
    text += fmt::format("change {}\n", Printable(change));
  }
  text += Headline(report) + Memory(report) + Breakdown(report) + Path(report) +
          NextBottleneck(report.after.critical_path);
  if (report.bound) {
    text += "note: a bound; what is gained is at most this\n";
  }
  for (const std::string& note : report.notes) {
    text += fmt::format("note: {}\n", note);
  }
  return text;
}

}  // namespace stepcast::report
