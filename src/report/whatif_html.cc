// What changes do to a step, as a page to look at.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "html/page.h"
#include "html/waterfall.h"
#include "report/alike_text.h"
#include "report/html_parts.h"
#include "report/html_timeline.h"
#include "report/text_parts.h"
#include "report/verdict.h"
#include "report/whatif.h"

namespace stepcast::report {
namespace {

constexpr size_t kMostPathChangesInPage = 20;

std::string VerdictOf(const WhatifReport& report) {
  if (MillisecondsText(report.before.step) ==
      MillisecondsText(report.after.step)) {
    return fmt::format(
        "nothing changes: {} ms a step before and after, {}",
        MillisecondsText(report.after.step),
        Verdict(report.after.critical_path, report.after.slowest));
  }
  return fmt::format("{}{} of the step time: {} to {} ms, then {}",
                     report.bound ? "at most " : "",
                     DeltaPercentText(report.delta.step, report.before.step),
                     MillisecondsText(report.before.step),
                     MillisecondsText(report.after.step),
                     Verdict(report.after.critical_path, report.after.slowest));
}

// A fact of both steps: the value after, the one before as a note.
html::Fact Both(std::string name, const std::string& before,
                std::string after) {
  return {std::move(name), std::move(after), fmt::format("before {}", before)};
}

std::vector<html::Fact> PageFacts(const WhatifReport& report) {
  const PredictionReport& before = report.before;
  const PredictionReport& after = report.after;
  std::vector<html::Fact> facts;
  facts.push_back(Both("step time", MillisecondsText(before.step) + " ms",
                       MillisecondsText(after.step) + " ms"));
  facts.push_back(
      {"change", DeltaText(report.delta.step) + " ms",
       report.delta.p10 == report.delta.p90
           ? DeltaPercentText(report.delta.step, before.step)
           : fmt::format("p10 {}, p90 {} ms", DeltaText(report.delta.p10),
                         DeltaText(report.delta.p90))});
  if (before.samples_per_s > 0 && after.samples_per_s > 0) {
    facts.push_back(Both(
        "samples/s", WithThousands(static_cast<int64_t>(before.samples_per_s)),
        WithThousands(static_cast<int64_t>(after.samples_per_s))));
  }
  const auto share = [](const engine::RankAccount& rank, Duration part) {
    return PercentText(part, rank.step);
  };
  facts.push_back(Both("GPU active",
                       share(before.slowest, before.slowest.gpu_active),
                       share(after.slowest, after.slowest.gpu_active)));
  facts.push_back(Both("host busy",
                       share(before.slowest, before.slowest.host_busy),
                       share(after.slowest, after.slowest.host_busy)));
  if (before.memory && after.memory) {
    facts.push_back(Both(
        "memory", fmt::format("{:.1f} GB", before.memory->hbm_bytes / kGiga),
        fmt::format("{:.1f} GB{}", after.memory->hbm_bytes / kGiga,
                    after.memory->fits() ? "" : ": does not fit")));
  }
  return facts;
}

// The slowest rank of either step, then all ranks, each before and after.
std::vector<NamedParts> BarsOf(const WhatifReport& report) {
  const auto& befores = report.before.ranks;
  const auto& afters = report.after.ranks;
  if (befores.size() <= 1 && afters.size() <= 1) {
    return {{"before", PartsOf(report.before.slowest)},
            {"after", PartsOf(report.after.slowest)}};
  }
  std::vector<NamedParts> bars;
  for (size_t i = 0; i < std::max(befores.size(), afters.size()); ++i) {
    if (i < befores.size()) {
      bars.push_back({RankName(befores[i]) + " before", PartsOf(befores[i])});
    }
    if (i < afters.size()) {
      bars.push_back({RankName(afters[i]) + " after", PartsOf(afters[i])});
    }
  }
  return bars;
}

html::Table MakeChangeTable(std::string first) {
  return {.head = {std::move(first), "before ms", "after ms", "change ms", "%"},
          .rows = {},
          .words = 1};
}

void AddRow(std::string name, Duration before, Duration after,
            html::Table& table) {
  table.rows.push_back({std::move(name), MillisecondsText(before),
                        MillisecondsText(after), DeltaText(after - before),
                        DeltaPercentText(after - before, before)});
}

void AddParts(const WhatifReport& report, html::Page& page) {
  html::Waterfall waterfall{.begin_name = "before",
                            .begin = report.before.slowest.step,
                            .steps = {},
                            .end_name = "after"};
  html::Table table = MakeChangeTable("part");
  for (const PartDifference& part : PartsOf(report)) {
    const std::string name(PartText(part.name));
    waterfall.steps.push_back({name, part.delta()});
    AddRow(name, part.a, part.b, table);
  }
  AddRow("step time", report.before.slowest.step, report.after.slowest.step,
         table);
  page.AddSection("What changes", "Of the slowest rank before and after.");
  page.AddHtml(html::WaterfallHtml(waterfall));
  page.AddTable(table);
}

void AddPaths(const WhatifReport& report, html::Page& page) {
  page.AddSection("Critical path, before and after", kPathText);
  if (report.path.empty()) {
    page.AddNotes({"It is as it was."});
    return;
  }
  html::Table table = MakeChangeTable("on the path");
  for (size_t i = 0; i < report.path.size() && i < kMostPathChangesInPage;
       ++i) {
    const PathChange& change = report.path[i];
    AddRow(ElideMiddle(Printable(change.what), kNameLength), change.before,
           change.after, table);
  }
  page.AddTable(table);
}

void AddNextBottleneck(const PathSummary& path, html::Page& page) {
  if (path.longest.empty()) {
    return;
  }
  const PathShare& share = path.longest.front();
  page.AddSection(
      "Next bottleneck",
      fmt::format("{} ms {}, {} of the critical path after the change.",
                  MillisecondsText(share.time), Printable(share.what),
                  PercentText(share.time, path.length)));
  page.AddTable(PathTable(path));
}

}  // namespace

std::string WhatifHtml(const WhatifReport& report, const whatif::Case& before,
                       const whatif::Case& after, std::string_view version) {
  html::Page page(fmt::format("{}: {}", Printable(Joined(report.changes)),
                              SubjectText(report.before.subject)),
                  VerdictOf(report));
  page.AddFacts(PageFacts(report));
  std::vector<std::string> notes = report.notes;
  if (report.bound) {
    notes.insert(notes.begin(), "A bound: what is gained is at most this.");
  }
  if (!notes.empty()) {
    page.AddNotes(notes);
  }
  page.AddSection("Where the time goes", kBarsText);
  page.AddHtml(PartBars(BarsOf(report)));
  page.AddHtml(AlikeHtml(report.after.ranks));
  AddParts(report, page);
  AddPaths(report, page);
  AddNextBottleneck(report.after.critical_path, page);
  page.AddSection("Timelines", kTimelineText);
  page.AddHtml(LinkedTimelines(before, "before", after, "after"));
  page.AddSection(
      "Longest kernels after the change",
      fmt::format("Of rank {}, summed by name.", report.after.slowest.rank));
  page.AddTable(TopWorks(*after.graph, SimulatedStep(after.prediction),
                         report.after.slowest, &after.prediction.works));
  page.AddSection("Where the numbers are from",
                  fmt::format("Before: {}. Overheads of the host: {}.",
                              report.before.subject.window,
                              report.before.subject.overheads));
  page.AddTable(
      SourcesTable({&report.before, &report.after}, {"before", "after"}));
  return page.Take(version);
}

}  // namespace stepcast::report
