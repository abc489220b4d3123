// A predicted step for people.
#include <algorithm>

#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "report/alike_text.h"
#include "report/breakdown.h"
#include "report/path_summary.h"
#include "report/prediction.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

constexpr size_t kMostPathPartsInText = 6;
constexpr size_t kMostRanksInText = 16;

std::string Headline(const PredictionReport& report) {
  std::string text =
      fmt::format("\nstep time    {} ms", MillisecondsText(report.step));
  if (report.interval.p10 != report.interval.p90) {
    text += fmt::format("   (p10 {}, p90 {})",
                        MillisecondsText(report.interval.p10),
                        MillisecondsText(report.interval.p90));
  }
  text += fmt::format("   {}\n", report.subject.window);
  if (report.samples_per_s > 0) {
    text +=
        fmt::format("throughput   {} samples/s\n",
                    WithThousands(static_cast<int64_t>(report.samples_per_s)));
  }
  const engine::RankAccount& slowest = report.slowest;
  text += fmt::format("{}   {} ms   {}\n",
                      report.subject.server ? "at work   " : "GPU active",
                      MillisecondsText(slowest.gpu_active),
                      PercentText(slowest.gpu_active, slowest.step));
  text += fmt::format("host busy    {} ms   {}\n",
                      MillisecondsText(slowest.host_busy),
                      PercentText(slowest.host_busy, slowest.step));
  return text;
}

std::string Breakdown(const PredictionReport& report) {
  const engine::RankAccount& slowest = report.slowest;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight}, "  ");
  for (const auto& [name, time] : PartsOf(slowest)) {
    if (time > Duration{}) {
      table.AddRow({std::string(PartText(name)), MillisecondsText(time) + " ms",
                    PercentText(time, slowest.step)});
    }
  }
  return fmt::format("\nwhere the time goes{}\n{}",
                     report.ranks.size() > 1
                         ? fmt::format(", rank {}, the slowest", slowest.rank)
                         : "",
                     table.ToString());
}

std::string Path(const PredictionReport& report) {
  const PathSummary& path = report.critical_path;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight}, "  ");
  for (size_t i = 0; i < path.longest.size() && i < kMostPathPartsInText; ++i) {
    const PathShare& share = path.longest[i];
    constexpr size_t kWidth = 60;
    table.AddRow({ElideMiddle(Printable(share.what), kWidth),
                  MillisecondsText(share.time) + " ms",
                  PercentText(share.time, path.length)});
  }
  return fmt::format("\ncritical path: {}; longest on it\n{}",
                     PathKindsText(path.kinds, path.length), table.ToString());
}

// What every algorithm makes of the same times; with a trace, how far off.
std::string Algorithms(const PredictionReport& report) {
  Duration measured{};
  for (const MeasuredStep& step : report.measured) {
    measured = std::max(measured, step.step);
  }
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight},
                  "  ");
  table.AddRow({"algorithm", "step ms", "active ms",
                measured > Duration{} ? "error" : ""});
  for (const AlgorithmStep& algorithm : report.algorithms) {
    table.AddRow(
        {algorithm.name, MillisecondsText(algorithm.step),
         MillisecondsText(algorithm.gpu_active),
         measured > Duration{}
             ? fmt::format(
                   "{:+.1f} %",
                   100.0 * (static_cast<double>(algorithm.step.count()) /
                                static_cast<double>(measured.count()) -
                            1))
             : ""});
  }
  return fmt::format("\nthe slowest rank by algorithm\n{}", table.ToString());
}

std::string Ranks(const PredictionReport& report) {
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight},
                  "  ");
  const bool measured = !report.measured.empty();
  std::vector<std::string> head = {"rank", "step ms", "active ms",
                                   "exposed comm ms", "waiting ms"};
  if (measured) {
    head.insert(head.end(), {"measured ms", "error"});
  }
  table.AddRow(head);
  for (size_t i = 0; i < report.ranks.size() && i < kMostRanksInText; ++i) {
    const engine::RankAccount& account = report.ranks[i];
    std::vector<std::string> row = {
        fmt::format("{}", account.rank), MillisecondsText(account.step),
        MillisecondsText(account.gpu_active),
        MillisecondsText(account.communication_exposed),
        MillisecondsText(account.collective_wait)};
    for (const MeasuredStep& step : report.measured) {
      if (step.rank == account.rank && step.step > Duration{}) {
        row.push_back(MillisecondsText(step.step));
        row.push_back(fmt::format(
            "{:+.1f} %", 100.0 * (static_cast<double>(account.step.count()) /
                                      static_cast<double>(step.step.count()) -
                                  1)));
      }
    }
    table.AddRow(row);
  }
  const size_t more =
      report.ranks.size() - std::min(report.ranks.size(), kMostRanksInText);
  const std::string alike = AlikeText(report.ranks);
  return fmt::format("\nranks\n{}{}{}", table.ToString(),
                     more == 0 ? "" : fmt::format("  ... {} more\n", more),
                     alike.empty() ? "" : fmt::format("  {}\n", alike));
}

std::string Sources(const PredictionReport& report) {
  std::vector<std::string> works;
  for (size_t i = 0; i < report.coverage.size(); ++i) {
    if (report.coverage[i] > 0) {
      works.push_back(
          fmt::format("{} {}", PercentText(report.coverage[i]),
                      engine::Name(static_cast<engine::PriceSource>(i))));
    }
  }
  std::string text =
      fmt::format("\ncoverage: {} time {}\n",
                  report.subject.server ? "operators'" : "GPU", Joined(works));
  std::vector<std::string> host;
  for (size_t i = 0; i < report.overhead_coverage.size(); ++i) {
    if (report.overhead_coverage[i] > 0) {
      host.push_back(
          fmt::format("{} {}", PercentText(report.overhead_coverage[i]),
                      cost::Name(static_cast<cost::OverheadSource>(i))));
    }
  }
  if (!host.empty()) {
    text += fmt::format("          host time {} by name of op\n", Joined(host));
  }
  return text;
}

std::string Memory(const MemoryUse& memory) {
  std::vector<std::string> parts;
  for (const auto& [name, bytes] : memory.parts) {
    parts.push_back(fmt::format("{} {:.2f}", name, bytes / kGiga));
  }
  std::string text =
      fmt::format("memory       {:.2f} of {:.2f} GB{} ({})\n",
                  memory.hbm_bytes / kGiga, memory.hbm_capacity_bytes / kGiga,
                  memory.fits() ? "" : ": DOES NOT FIT", Joined(parts));
  if (memory.host_bytes > 0) {
    text += fmt::format(
        "host memory  {:.2f} of {:.2f} GB{} (tables of a node)\n",
        memory.host_bytes / kGiga, memory.host_capacity_bytes / kGiga,
        memory.fits_host() ? "" : ": DOES NOT FIT");
  }
  return text;
}

}  // namespace

std::string SubjectText(const PredictionSubject& subject) {
  std::string text = fmt::format("{} on {}", subject.workload, subject.gpu);
  if (subject.num_gpus > 1) {
    text = fmt::format("{} on {} x {}", subject.workload, subject.num_gpus,
                       subject.gpu);
  }
  if (!subject.platform.empty()) {
    text += fmt::format(" ({})", subject.platform);
  }
  std::vector<std::string> facts;
  if (subject.batch_per_gpu > 0) {
    facts.push_back(fmt::format("batch {} a {}",
                                WithThousands(subject.batch_per_gpu),
                                subject.server ? "process" : "GPU"));
  }
  for (const std::string* fact :
       {&subject.mode, &subject.precision, &subject.impl}) {
    if (!fact->empty()) {
      facts.push_back(*fact);
    }
  }
  facts.push_back("overheads " + subject.overheads);
  return fmt::format("{}, {}", text, Joined(facts));
}

std::string PredictionText(const PredictionReport& report) {
  std::string text = SubjectText(report.subject) + "\n" + Headline(report);
  if (report.memory) {
    text += Memory(*report.memory);
  }
  if (report.samples_per_joule > 0) {
    text += fmt::format("power        {} W, {:.3g} samples/J\n",
                        WithThousands(static_cast<int64_t>(report.power_w)),
                        report.samples_per_joule);
  }
  text += Breakdown(report) + Path(report);
  if (report.algorithms.size() > 1) {
    text += Algorithms(report);
  }
  if (report.ranks.size() > 1 || !report.measured.empty() ||
      !AlikeText(report.ranks).empty()) {
    text += Ranks(report);
  }
  text += Sources(report);
  for (const std::string& note : report.notes) {
    text += fmt::format("note: {}\n", note);
  }
  return text;
}

}  // namespace stepcast::report
