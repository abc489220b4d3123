// The report of two steps side by side.
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/json/json_read.h"
#include "base/text/text_table.h"
#include "base/units.h"
#include "view/html/bars.h"
#include "view/reports/compare.h"
#include "view/reports/step_blocks.h"
#include "view/reports/text_parts.h"
#include "view/reports/whatif.h"
#include "view/timelines/timeline.h"

namespace stepcast::view {
namespace {

// Times of an object, and of those in it with their key in front.
void ReadTimes(const JsonValue& object, const std::string& prefix,
               StepParts& parts) {
  object.ForEachMember([&](std::string_view key, const JsonValue& value) {
    if (value.is_object()) {
      ReadTimes(value, fmt::format("{} ", key), parts);
    } else if (const auto us = value.AsDouble()) {
      parts.emplace_back(prefix + std::string(key), FromMicroseconds(*us));
    }
  });
}

Duration Largest(const OpDifference& op) {
  return std::max(std::chrono::abs(op.host()), std::chrono::abs(op.device()));
}

}  // namespace

ComparedStep CompareSide(const whatif::Case& subject, std::string name) {
  ComparedStep step;
  step.name = std::move(name);
  step.step = subject.result.step;
  const engine::RankAccount account = subject.result.slowest_account();
  step.gpu_active = account.gpu_active;
  step.host_busy = account.host_busy;
  step.parts = PartsOf(account);
  step.ops = SumOps(subject.result);
  if (subject.model != nullptr && subject.model->fits() &&
      step.step > Duration{}) {
    constexpr double kSecond = 1e9;
    step.samples_per_s =
        static_cast<double>(subject.model->batch * subject.machine.ranks) *
        kSecond / static_cast<double>(step.step.count());
  }
  return step;
}

Result<ComparedStep> ReadPredictionJson(std::string_view text,
                                        std::string name) {
  ComparedStep step;
  step.name = std::move(name);
  const auto source = OpenMemory(text);
  JsonRecordReader reader(*source, {});
  bool has_step = false;
  for (;;) {
    ASSIGN_OR_RETURN(const auto item, reader.Next());
    if (!item) {
      break;
    }
    const auto us = item->value.AsDouble();
    if (item->key == "step_time_us" && us) {
      step.step = FromMicroseconds(*us);
      has_step = true;
    } else if (item->key == "gpu_active_us" && us) {
      step.gpu_active = FromMicroseconds(*us);
    } else if (item->key == "host_busy_us" && us) {
      step.host_busy = FromMicroseconds(*us);
    } else if (item->key == "samples_per_s" && us) {
      step.samples_per_s = *us;
    } else if (item->key == "breakdown_us") {
      ReadTimes(item->value, "", step.parts);
    } else if (item->key == "ops") {
      step.ops = ReadOps(item->value);
    } else if (item->key == "sharders") {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{} is what `stepcast plan --json` wrote; expected the "
                      "plan itself, as in `stepcast plan ... --out P` and "
                      "`stepcast compare MODEL@plan=P ...`",
                      step.name));
    }
  }
  if (!has_step) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no step_time_us; expected what `stepcast "
                            "predict --json` writes",
                            step.name));
  }
  return step;
}

Comparison Compare(ComparedStep a, ComparedStep b) {
  Comparison comparison;
  comparison.parts = DifferencesOf(a.parts, b.parts);
  std::ranges::stable_sort(
      comparison.parts, [](const PartDifference& x, const PartDifference& y) {
        return std::chrono::abs(x.delta()) > std::chrono::abs(y.delta());
      });
  std::set<std::string> names;
  for (const auto* ops : {&a.ops, &b.ops}) {
    for (const auto& [name, times] : *ops) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) {
    comparison.ops.push_back(
        {.name = name,
         .a = a.ops.contains(name) ? a.ops.at(name) : OpTimes{},
         .b = b.ops.contains(name) ? b.ops.at(name) : OpTimes{}});
  }
  std::ranges::stable_sort(comparison.ops,
                           [](const OpDifference& x, const OpDifference& y) {
                             return Largest(x) > Largest(y);
                           });
  comparison.a = std::move(a);
  comparison.b = std::move(b);
  return comparison;
}

double PercentLonger(Duration a, Duration b) {
  return a.count() == 0 ? 0
                        : kPercent * static_cast<double>((b - a).count()) /
                              static_cast<double>(a.count());
}

namespace {

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
    return Fact{{.label = std::move(label)},
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

void AddComparedParts(const Comparison& comparison, Doc& doc) {
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
      Picture{.title = table.title, .drawing = std::move(waterfall)});
  doc.blocks.emplace_back(std::move(table));
}

Table OpTableOf(const Comparison& comparison) {
  Table table{.key = "ops",
              .title = "op by op",
              .about =
                  "Top-level ops of the slowest rank by name, the largest "
                  "difference first.",
              .columns = {{.key = "name", .label = "op", .width = kNameWidth},
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
    table.readers = Readers::kPrograms;
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
                    const PredictionReport& report, Doc& doc) {
  Table path = PathTable(report.critical_path);
  path.key.clear();
  path.title = fmt::format("critical path of {}", name);
  path.readers = Readers::kPages;
  doc.blocks.emplace_back(std::move(path));
  Table kernels = KernelTable(side.result);
  kernels.title += fmt::format(" of {}", name);
  doc.blocks.emplace_back(std::move(kernels));
}

void AddComparedSources(const std::optional<PredictionReport>& a,
                        const std::optional<PredictionReport>& b, Doc& doc) {
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
    sources.readers = Readers::kPages;
    doc.blocks.emplace_back(std::move(sources));
  }
}

std::optional<PredictionReport> ReportSide(const whatif::Case* side,
                                           const std::string& name) {
  return side == nullptr ? std::nullopt
                         : std::optional(ReportCase(*side, name));
}

}  // namespace

Doc ComparisonDoc(const Comparison& comparison, const whatif::Case* a,
                  const whatif::Case* b) {
  const auto report_a = ReportSide(a, comparison.a.name);
  const auto report_b = ReportSide(b, comparison.b.name);
  Doc doc;
  doc.title =
      fmt::format("{} against {}", comparison.b.name, comparison.a.name);
  doc.verdict = ComparisonVerdict(comparison);
  doc.blocks.emplace_back(ComparedFacts(comparison.a, comparison.b));
  doc.blocks.emplace_back(SideFacts("a", comparison.a));
  doc.blocks.emplace_back(SideFacts("b", comparison.b));
  doc.blocks.emplace_back(Facts{
      {{.key = "delta.step_time_us"}, comparison.b.step - comparison.a.step},
      {{.key = "delta.step_time_pct"},
       Percent{PercentLonger(comparison.a.step, comparison.b.step)}}});
  doc.blocks.emplace_back(
      Picture{.title = "where the time goes",
              .about = std::string(kBarsText),
              .drawing = ComparedBars(comparison, report_a, report_b)});
  AddComparedParts(comparison, doc);
  Table ops = OpTableOf(comparison);
  doc.csv = ops;
  doc.blocks.emplace_back(std::move(ops));
  if (!comparison.by_op()) {
    doc.blocks.emplace_back(
        Text{.text = fmt::format("ops are not compared: {}",
                                 comparison.why_not_by_op())});
  }
  if (a != nullptr && b != nullptr) {
    doc.blocks.emplace_back(
        Picture{.title = "timelines",
                .about = std::string(kTimelineText),
                .drawing = MakeTimelines([a, b] {
                  return std::vector<NamedTimeline>{
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

}  // namespace stepcast::view
