// The report of two steps side by side.
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "html/waterfall.h"
#include "report/alike_text.h"
#include "report/compare.h"
#include "report/html_timeline.h"
#include "report/step_blocks.h"
#include "report/text_parts.h"
#include "report/whatif.h"

namespace stepcast::report {
namespace {

using view::Facts;
using view::ShareOf;
using view::Table;

constexpr size_t kComparedOpRows = 15;

std::string ComparisonVerdict(const Comparison& comparison) {
  const Duration delta = comparison.b.step - comparison.a.step;
  if (delta == Duration{}) {
    return fmt::format("A and B take the same: {} ms",
                       MillisecondsText(comparison.a.step));
  }
  std::string text = fmt::format("B is {} than A: {} to {} ms ({})",
                                 delta < Duration{} ? "shorter" : "longer",
                                 MillisecondsText(comparison.a.step),
                                 MillisecondsText(comparison.b.step),
                                 DeltaPercentText(delta, comparison.a.step));
  for (const PartDifference& part : comparison.parts) {
    // The largest that goes the same way.
    if ((part.delta() < Duration{}) == (delta < Duration{})) {
      return fmt::format("{}, most of it {}", text, PartText(part.name));
    }
  }
  return text;
}

Facts SideFacts(const std::string& key, const ComparedStep& step) {
  Facts facts = {{{.key = key + ".name"}, step.name},
                 {{.key = key + ".step_time_us"}, step.step},
                 {{.key = key + ".gpu_active_us"}, step.gpu_active},
                 {{.key = key + ".host_busy_us"}, step.host_busy}};
  if (step.samples_per_s > 0) {
    facts.push_back(
        {{.key = key + ".samples_per_s", .decimals = 1}, step.samples_per_s});
  }
  return facts;
}

// For people: B, and how far it is from A.
Facts ComparedFacts(const ComparedStep& a, const ComparedStep& b) {
  const auto fact = [](std::string label, Duration of_a, Duration of_b) {
    return view::Fact{{.label = std::move(label)},
                      of_b,
                      fmt::format("A {} ms; {} ms, {}", MillisecondsText(of_a),
                                  DeltaText(of_b - of_a),
                                  DeltaPercentText(of_b - of_a, of_a))};
  };
  Facts facts = {{{.label = "A"}, a.name},
                 {{.label = "B"}, b.name},
                 fact("step time", a.step, b.step),
                 fact("GPU active", a.gpu_active, b.gpu_active),
                 fact("host busy", a.host_busy, b.host_busy)};
  if (a.samples_per_s > 0 && b.samples_per_s > 0) {
    facts.push_back(
        {{.label = "throughput", .unit = "samples/s"},
         b.samples_per_s,
         fmt::format("A {}; {:+.1f} %",
                     WithThousands(static_cast<int64_t>(a.samples_per_s)),
                     kPercent * (b.samples_per_s / a.samples_per_s - 1))});
  }
  return facts;
}

void AddComparedParts(const Comparison& comparison, view::Doc& doc) {
  html::Waterfall waterfall{
      .begin_name = "A", .begin = {}, .steps = {}, .end_name = "B"};
  Table table{.key = "parts",
              .title = "from A to B",
              .caption = "the slowest rank of each",
              .columns = {{.key = "name"},
                          {.label = "part"},
                          {.key = "a_us", .label = "A"},
                          {.key = "b_us", .label = "B"},
                          {.label = "change", .sign = true},
                          {.label = "change", .sign = true}}};
  for (const PartDifference& part : comparison.parts) {
    const std::string name(PartText(part.name));
    waterfall.begin += part.a;
    waterfall.steps.push_back({name, part.delta()});
    table.rows.push_back({part.name, name, part.a, part.b, part.delta(),
                          ShareOf(part.delta(), part.a)});
  }
  doc.blocks.emplace_back(
      view::Picture{.title = table.title, .drawing = std::move(waterfall)});
  doc.blocks.emplace_back(std::move(table));
}

Table OpTableOf(const Comparison& comparison) {
  Table table{
      .key = "ops",
      .title = "op by op",
      .about =
          "Top-level ops of the slowest rank by name, the largest "
          "difference first.",
      .columns = {{.key = "name", .label = "op", .width = view::kNameWidth},
                  {.key = "a.count", .label = "times A"},
                  {.key = "a.gpu_us", .label = "GPU A"},
                  {.key = "a.host_us", .label = "host A"},
                  {.key = "b.count", .label = "times B"},
                  {.key = "b.gpu_us", .label = "GPU B"},
                  {.key = "b.host_us", .label = "host B"},
                  {.label = "GPU change", .sign = true},
                  {.label = "host change", .sign = true}},
      .limit = kComparedOpRows};
  for (const OpDifference& op : comparison.ops) {
    table.rows.push_back({op.name, static_cast<int64_t>(op.a.count),
                          op.a.device, op.a.host,
                          static_cast<int64_t>(op.b.count), op.b.device,
                          op.b.host, op.device(), op.host()});
  }
  if (!comparison.by_op()) {
    table.readers = view::Readers::kPrograms;
  }
  return table;
}

// All ranks of both, where there are several.
html::Bars ComparedBars(const Comparison& comparison,
                        const std::optional<PredictionReport>& a,
                        const std::optional<PredictionReport>& b) {
  std::vector<NamedParts> bars;
  const auto add = [&](std::string_view name, const StepParts& parts,
                       const std::optional<PredictionReport>& report) {
    if (!report || report->ranks.size() <= 1) {
      bars.push_back({std::string(name), parts});
      return;
    }
    for (const engine::RankAccount& rank : report->ranks) {
      bars.push_back(
          {fmt::format("{} {}", name, RankName(rank)), PartsOf(rank)});
    }
  };
  add("A", comparison.a.parts, a);
  add("B", comparison.b.parts, b);
  return PartBars(bars);
}

// For pages: what is known of a side beyond its sums.
void AddSideDetails(std::string_view name, const whatif::Case& side,
                    const PredictionReport& report, view::Doc& doc) {
  Table path = PathTable(report.critical_path);
  path.key.clear();
  path.title = fmt::format("critical path of {}", name);
  path.readers = view::Readers::kPages;
  doc.blocks.emplace_back(std::move(path));
  Table kernels = KernelTable(side.result);
  kernels.title += fmt::format(" of {}", name);
  doc.blocks.emplace_back(std::move(kernels));
}

void AddComparedSources(const std::optional<PredictionReport>& a,
                        const std::optional<PredictionReport>& b,
                        view::Doc& doc) {
  std::vector<const PredictionReport*> reports;
  std::vector<std::string> names;
  for (const auto& [name, report] : {std::pair("A", &a), std::pair("B", &b)}) {
    if (*report) {
      reports.push_back(&**report);
      names.emplace_back(name);
    }
  }
  if (!reports.empty()) {
    Table sources = SourceTable(reports, names);
    sources.readers = view::Readers::kPages;
    doc.blocks.emplace_back(std::move(sources));
  }
}

std::optional<PredictionReport> ReportSide(const whatif::Case* side,
                                           const std::string& name) {
  return side == nullptr ? std::nullopt
                         : std::optional(ReportCase(*side, name));
}

}  // namespace

view::Doc ComparisonDoc(const Comparison& comparison, const whatif::Case* a,
                        const whatif::Case* b) {
  const auto report_a = ReportSide(a, comparison.a.name);
  const auto report_b = ReportSide(b, comparison.b.name);
  view::Doc doc;
  doc.title =
      fmt::format("{} against {}", comparison.b.name, comparison.a.name);
  doc.verdict = ComparisonVerdict(comparison);
  doc.blocks.emplace_back(ComparedFacts(comparison.a, comparison.b));
  doc.blocks.emplace_back(SideFacts("a", comparison.a));
  doc.blocks.emplace_back(SideFacts("b", comparison.b));
  doc.blocks.emplace_back(Facts{
      {{.key = "delta.step_time_us"}, comparison.b.step - comparison.a.step},
      {{.key = "delta.step_time_pct"},
       view::Percent{PercentLonger(comparison.a.step, comparison.b.step)}}});
  doc.blocks.emplace_back(
      view::Picture{.title = "where the time goes",
                    .about = std::string(kBarsText),
                    .drawing = ComparedBars(comparison, report_a, report_b)});
  AddComparedParts(comparison, doc);
  Table ops = OpTableOf(comparison);
  doc.csv = ops;
  doc.blocks.emplace_back(std::move(ops));
  if (!comparison.by_op()) {
    doc.blocks.emplace_back(
        view::Text{.text = fmt::format("ops are not compared: {}",
                                       comparison.why_not_by_op())});
  }
  if (a != nullptr && b != nullptr) {
    doc.blocks.emplace_back(
        view::Picture{.title = "timelines",
                      .about = std::string(kTimelineText),
                      .drawing = view::MakeTimelines([a, b] {
                        return std::vector<view::NamedTimeline>{
                            {.name = "A", .timeline = StepTimeline(a->result)},
                            {.name = "B", .timeline = StepTimeline(b->result)}};
                      })});
  }
  if (a != nullptr) {
    AddSideDetails("A", *a, *report_a, doc);
  }
  if (b != nullptr) {
    AddSideDetails("B", *b, *report_b, doc);
  }
  AddComparedSources(report_a, report_b, doc);
  return doc;
}

}  // namespace stepcast::report
