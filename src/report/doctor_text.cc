#include "report/doctor_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/job_text.h"
#include "report/rank_text.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

Coverage AllCoverage(const DoctorReport& report) {
  Coverage sum;
  for (const RankReport& rank : report.ranks) {
    sum = Merged(sum, rank.coverage);
  }
  return sum;
}

std::string VerdictText(const DoctorReport& report) {
  const InputVerdict& verdict = report.verdict;
  std::string text = fmt::format(
      "usable for replay: {}{}; for prediction: {}",
      verdict.replay ? "yes" : "no",
      verdict.replay && verdict.host_only ? ", of the host alone" : "",
      verdict.prediction ? "yes" : "no");
  const Coverage coverage = AllCoverage(report);
  if (!verdict.prediction && coverage.works > 0 &&
      coverage.sized_share() < kSizedEnough) {
    text += fmt::format(" (sizes known for {} of {}, {:.0f} % needed)",
                        PercentText(coverage.sized_share()),
                        coverage.time > Duration{} ? "GPU time" : "works",
                        kSizedEnough * 100);
  }
  return text + fmt::format("; missing: {}\n", verdict.missing.empty()
                                                   ? "nothing"
                                                   : Joined(verdict.missing));
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
    text += JobText(report) + CoverageText(AllCoverage(report));
  } else {
    for (const RankReport& rank : report.ranks) {
      text += "\n" + RankText(rank);
    }
  }
  return text + OdditiesText(report);
}

}  // namespace stepcast::report
