#include "report/doctor_doc.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/join.h"
#include "base/text_table.h"
#include "ir/names.h"
#include "report/rank_blocks.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

using view::Share;
using view::ShareOf;
using view::Table;
using view::Value;

// Rows that text shows of the collectives: those with the largest skew.
constexpr size_t kDoctorCollectiveRows = 24;

Coverage AllCoverage(const DoctorReport& report) {
  Coverage sum;
  for (const RankReport& rank : report.ranks) {
    sum = Merged(sum, rank.coverage);
  }
  return sum;
}

std::string DoctorVerdict(const DoctorReport& report) {
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
                        kSizedEnough * kPercent);
  }
  return text + fmt::format("; missing: {}", verdict.missing.empty()
                                                 ? "nothing"
                                                 : Join(verdict.missing, ", "));
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
  formats.reserve(rank.files.size());
  for (const FileFacts& file : rank.files) {
    formats.push_back(FormatText(file));
  }
  return Join(formats, " + ");
}

// "8 ranks of 8; kineto 2022, schema 1; Tesla V100-SXM2-32GB"
std::string JobTitle(const DoctorReport& report) {
  std::string text = CountText(std::ssize(report.ranks), "rank");
  const std::string world = Common(report, [](const RankReport& rank) {
    return rank.world_size ? fmt::format("{}", *rank.world_size) : "";
  });
  text += world.empty() ? "" : fmt::format(" of {}", world);
  text += "; " + Common(report, FormatsText);
  const std::string devices = Common(report, [](const RankReport& rank) {
    return rank.trace ? DevicesText(rank.devices) : "";
  });
  return devices.empty() ? text : text + "; " + devices;
}

// The files, or how many there are.
std::string FilesTitle(const DoctorReport& report) {
  constexpr size_t kMostNamed = 3;
  std::vector<std::string> names;
  for (const RankReport& rank : report.ranks) {
    for (const FileFacts& file : rank.files) {
      names.push_back(std::filesystem::path(file.path).filename().string());
    }
  }
  return names.size() <= kMostNamed ? Join(names, ", ")
                                    : CountText(std::ssize(names), "file");
}

Value MedianStep(const TraceFacts& facts) {
  std::vector<Duration> times;
  times.reserve(facts.steps.size());
  for (const StepFacts& step : facts.steps) {
    times.push_back(step.duration);
  }
  std::ranges::sort(times);
  return times.empty() ? Value(Duration{})
                       : Value(times[(times.size() - 1) / 2]);
}

std::string FirstFile(const RankReport& rank) {
  return rank.files.empty() ? "" : rank.files.front().path;
}

Table TimeTable(const DoctorReport& report) {
  Table table{.title = "time on the ranks",
              .about =
                  "Step: the median one. Busy: union of kernels, copies "
                  "and memsets. Span: their first start to last end. "
                  "Collectives: busy with them, waiting for other ranks "
                  "included.",
              .columns = {{.label = "rank"},
                          {.label = "steps"},
                          {.label = "step"},
                          {.label = "busy"},
                          {.label = "span"},
                          {.label = "busy"},
                          {.label = "collectives"},
                          {.label = "file", .width = view::kNameWidth}}};
  for (const RankReport& rank : report.ranks) {
    std::vector<Value> row = {rank.rank};
    row.resize(7, nullptr);
    if (rank.trace) {
      const TraceFacts& facts = *rank.trace;
      row = {rank.rank,
             std::ssize(facts.steps),
             MedianStep(facts),
             facts.busy,
             facts.span,
             ShareOf(facts.busy, facts.span),
             facts.collective_busy};
    }
    row.emplace_back(FirstFile(rank));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table ContentTable(const DoctorReport& report) {
  Table table{.title = "what the ranks' files hold",
              .about =
                  "Orphans: device events without a launch in the file. "
                  "Classified, sized: share of GPU time whose kernels are "
                  "known, whose sizes are known.",
              .columns = {{.label = "rank"},
                          {.label = "ops"},
                          {.label = "shapes"},
                          {.label = "calls"},
                          {.label = "kernels"},
                          {.label = "copies"},
                          {.label = "streams"},
                          {.label = "orphans"},
                          {.label = "classified"},
                          {.label = "sized"}}};
  for (const RankReport& rank : report.ranks) {
    std::vector<Value> row = {rank.rank};
    if (rank.trace) {
      const TraceFacts& facts = *rank.trace;
      row = {rank.rank,           facts.ops,     facts.ops_with_shapes,
             facts.runtime_calls, facts.kernels, facts.copies,
             facts.streams,       facts.orphans};
    }
    row.resize(8, nullptr);
    row.emplace_back(Share{rank.coverage.classified_share()});
    row.emplace_back(Share{rank.coverage.sized_share()});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// For ranks that have execution traces only.
Table ExecutionTable(const DoctorReport& report) {
  Table table{.title = "what the ranks' files hold",
              .columns = {{.label = "rank"},
                          {.label = "ops"},
                          {.label = "shapes"},
                          {.label = "device nodes"},
                          {.label = "classified"},
                          {.label = "sized"},
                          {.label = "file", .width = view::kNameWidth}}};
  for (const RankReport& rank : report.ranks) {
    const ExecutionFacts facts = rank.execution.value_or(ExecutionFacts{});
    table.rows.push_back({rank.rank, facts.ops, facts.ops_with_shapes,
                          facts.device_nodes,
                          Share{rank.coverage.classified_share()},
                          Share{rank.coverage.sized_share()}, FirstFile(rank)});
  }
  return table;
}

Table PairingTable(const DoctorReport& report) {
  Table table{.title = "execution traces in profiler traces",
              .columns = {{.label = "rank"},
                          {.label = "nodes x exact matches of its threads"},
                          {.label = "shapes that differ"},
                          {.label = "of"}}};
  for (const RankReport& rank : report.ranks) {
    if (!rank.pairing) {
      continue;
    }
    std::vector<std::string> threads;
    for (const ThreadPairing& thread : rank.pairing->threads) {
      threads.push_back(
          fmt::format("{} x {}", WithThousands(thread.nodes), thread.matches));
    }
    table.rows.push_back({rank.rank, Join(threads, ", "),
                          rank.pairing->different_shapes,
                          rank.pairing->compared_shapes});
  }
  return table;
}

void AddJob(const DoctorReport& report, view::Doc& doc) {
  const bool any_trace = std::ranges::any_of(
      report.ranks,
      [](const RankReport& rank) { return rank.trace.has_value(); });
  if (any_trace) {
    doc.blocks.emplace_back(TimeTable(report));
    doc.blocks.emplace_back(ContentTable(report));
    doc.blocks.emplace_back(PairingTable(report));
  } else {
    doc.blocks.emplace_back(ExecutionTable(report));
  }
}

Table CollectiveRows(const DoctorReport& report) {
  Table table{
      .key = "collectives",
      .title = fmt::format("collectives of step {}",
                           report.collectives_step.value_or(0)),
      .caption =
          "start skew is first to last start, own last start to last end",
      .columns = {{.label = "#"},
                  {.key = "kind", .label = "kind"},
                  {.key = "ranks"},
                  {.key = "bytes", .label = "bytes per rank"},
                  {.key = "start_us"},
                  {.key = "start_skew_us", .label = "start skew", .unit = "us"},
                  {.key = "own_us", .label = "own", .unit = "us"},
                  {.key = "end_skew_us", .label = "ends differ", .unit = "us"},
                  {.key = "last_rank", .label = "last rank"}},
      .limit = kDoctorCollectiveRows,
      .keep_by = 5};
  for (size_t i = 0; i < report.collectives.size(); ++i) {
    const CollectiveFacts& item = report.collectives[i];
    table.rows.push_back({static_cast<int64_t>(i),
                          std::string(ir::Name(item.kind)), item.ranks,
                          item.bytes.count, item.start, item.skew, item.own,
                          item.end_skew, item.last_rank});
  }
  return table;
}

// How many ranks a kind of oddity was seen in, as " in 2 of 8 ranks".
std::string WhereText(const DoctorReport& report, const DiagnosticKind& kind) {
  if (report.ranks.size() < 2 || report.diagnostics.count(kind) > 0) {
    return "";
  }
  const auto ranks = std::ranges::count_if(
      report.ranks,
      [&](const RankReport& rank) { return rank.diagnostics.count(kind) > 0; });
  return fmt::format(" in {} of {} ranks", ranks, report.ranks.size());
}

std::string OddityText(const Diagnostic& diagnostic, std::string_view where) {
  std::vector<std::string> examples;
  for (const std::string& example : diagnostic.examples) {
    if (!std::ranges::count(examples, Printable(example))) {
      examples.push_back(Printable(example));
    }
  }
  return fmt::format(
      "{} ({}, {}{}): {}{}; advice: {}", diagnostic.kind.name,
      diagnostic.kind.severity == Severity::kInfo ? "info" : "warning",
      WithThousands(diagnostic.count), where, diagnostic.kind.what,
      examples.empty() ? "" : fmt::format(", e.g. {}", Join(examples, "; ")),
      diagnostic.kind.advice);
}

void AddOddities(const DoctorReport& report, view::Doc& doc) {
  Diagnostics all = report.diagnostics;
  for (const RankReport& rank : report.ranks) {
    all.Merge(rank.diagnostics);
  }
  if (all.list().empty()) {
    doc.blocks.emplace_back(view::Text{.text = "nothing odd"});
  }
  for (const Severity severity : {Severity::kWarning, Severity::kInfo}) {
    for (const Diagnostic& diagnostic : all.list()) {
      if (diagnostic.kind.severity == severity) {
        doc.blocks.emplace_back(view::Text{
            .title = "what is odd, and what to do about it",
            .text =
                OddityText(diagnostic, WhereText(report, diagnostic.kind))});
      }
    }
  }
}

}  // namespace

view::Doc DoctorDoc(const DoctorReport& report) {
  const bool job = report.one_job && report.ranks.size() > 1;
  view::Doc doc;
  doc.title = job ? JobTitle(report) : FilesTitle(report);
  doc.verdict = DoctorVerdict(report);
  doc.verdict_key = "summary";
  doc.blocks.emplace_back(VerdictFacts(report.verdict));
  if (job) {
    AddJob(report, doc);
  }
  view::Group ranks{
      .key = "ranks",
      .readers = job ? view::Readers::kPrograms : view::Readers::kAll};
  for (const RankReport& rank : report.ranks) {
    ranks.items.push_back(std::make_shared<const view::Doc>(RankBlocks(rank)));
  }
  doc.blocks.emplace_back(std::move(ranks));
  doc.blocks.emplace_back(
      view::Facts{{{.key = "collectives_step"},
                   report.collectives_step ? Value(*report.collectives_step)
                                           : Value(nullptr)}});
  doc.blocks.emplace_back(CollectiveRows(report));
  if (job) {
    view::Doc coverage;
    AddCoverage(AllCoverage(report), coverage);
    for (view::Block& block : coverage.blocks) {
      std::get<Table>(block).key.clear();  // Programs have it by rank.
      doc.blocks.push_back(std::move(block));
    }
  }
  doc.blocks.emplace_back(DiagnosticTable(report.diagnostics));
  AddOddities(report, doc);
  return doc;
}

}  // namespace stepcast::report
