// Two steps side by side, for people.
#include <fmt/format.h>

#include "base/text_table.h"
#include "base/units.h"
#include "report/compare.h"
#include "report/text_parts.h"
#include "report/whatif.h"

namespace stepcast::report {
namespace {

constexpr size_t kMostOpsInText = 15;

void AddTimes(TextTable& table, const std::string& name, Duration a,
              Duration b) {
  table.AddRow({name, MillisecondsText(a), MillisecondsText(b),
                DeltaText(b - a), DeltaPercentText(b - a, a)});
}

std::string Steps(const Comparison& comparison) {
  const ComparedStep& a = comparison.a;
  const ComparedStep& b = comparison.b;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight},
                  "  ");
  table.AddRow({"", "A ms", "B ms", "B - A", ""});
  AddTimes(table, "step time", a.step, b.step);
  AddTimes(table, "GPU active", a.gpu_active, b.gpu_active);
  AddTimes(table, "host busy", a.host_busy, b.host_busy);
  std::string text = fmt::format("A  {}\nB  {}\n\n{}", Printable(a.name),
                                 Printable(b.name), table.ToString());
  if (a.samples_per_s > 0 && b.samples_per_s > 0) {
    text += fmt::format("\nthroughput: {} -> {} samples/s ({:+.1f} %)\n",
                        WithThousands(static_cast<int64_t>(a.samples_per_s)),
                        WithThousands(static_cast<int64_t>(b.samples_per_s)),
                        kPercent * (b.samples_per_s / a.samples_per_s - 1));
  }
  return text;
}

std::string Parts(const Comparison& comparison) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight},
                  "  ");
  table.AddRow(
      {"where the time goes, slowest rank", "A ms", "B ms", "B - A", ""});
  for (const PartDifference& part : comparison.parts) {
    AddTimes(table, std::string(PartText(part.name)), part.a, part.b);
  }
  return "\n" + table.ToString();
}

std::string CountChangeText(size_t a, size_t b) {
  return a == b ? fmt::format("{}", a) : fmt::format("{} -> {}", a, b);
}

std::string Ops(const Comparison& comparison) {
  if (!comparison.by_op()) {
    return fmt::format("\nops are not compared: {}\n",
                       comparison.why_not_by_op());
  }
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight},
                  "  ");
  table.AddRow({"op by op", "times", "GPU A ms", "B ms", "B - A", "host A ms",
                "B ms", "B - A"});
  size_t shown = 0;
  for (const OpDifference& op : comparison.ops) {
    if (shown == kMostOpsInText ||
        (op.host() == Duration{} && op.device() == Duration{})) {
      break;
    }
    ++shown;
    constexpr size_t kWidth = 44;
    table.AddRow({ElideMiddle(Printable(op.name), kWidth),
                  CountChangeText(op.a.count, op.b.count),
                  MillisecondsText(op.a.device), MillisecondsText(op.b.device),
                  DeltaText(op.device()), MillisecondsText(op.a.host),
                  MillisecondsText(op.b.host), DeltaText(op.host())});
  }
  if (shown == 0) {
    return "\nall ops take the same\n";
  }
  const size_t more = comparison.ops.size() - shown;
  return fmt::format("\n{}{}", table.ToString(),
                     more == 0 ? "" : fmt::format("  ... {} more\n", more));
}

}  // namespace

std::string ComparisonText(const Comparison& comparison) {
  return Steps(comparison) + Parts(comparison) + Ops(comparison);
}

}  // namespace stepcast::report
