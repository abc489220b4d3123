#include "report/text_parts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text_table.h"

namespace stepcast::report {
namespace {

// How many rows are shown; the JSON has them all.
constexpr size_t kFamilyRows = 12;
constexpr size_t kUnknown = 8;
constexpr size_t kKernelNameWidth = 76;

std::string FamilyTable(const Coverage& coverage) {
  const bool timed = coverage.time > Duration{};
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight},
                  "  ");
  table.AddRow(timed ? std::vector<std::string>{"family", "works", "ms",
                                                "share", "sizes known"}
                     : std::vector<std::string>{"family", "works"});
  const size_t shown = std::min(kFamilyRows, coverage.families.size());
  for (size_t i = 0; i < shown; ++i) {
    const FamilyTime& row = coverage.families[i];
    std::vector<std::string> cells = {row.family, WithThousands(row.count)};
    if (timed) {
      cells.push_back(MillisecondsText(row.time));
      cells.push_back(PercentText(row.time, coverage.time));
      cells.push_back(PercentText(row.sized, row.time));
    }
    table.AddRow(std::move(cells));
  }
  std::string text = table.ToString();
  if (shown < coverage.families.size()) {
    text += fmt::format("  and {} more\n", coverage.families.size() - shown);
  }
  return text;
}

std::string UnknownTable(const Coverage& coverage) {
  if (coverage.unknown.empty()) {
    return "";
  }
  TextTable table({Align::kRight, Align::kRight, Align::kLeft}, "  ");
  table.AddRow({"works", "ms", "name that no rule knows"});
  const size_t shown = std::min(kUnknown, coverage.unknown.size());
  for (size_t i = 0; i < shown; ++i) {
    const UnknownKernel& row = coverage.unknown[i];
    table.AddRow({WithThousands(row.count), MillisecondsText(row.time),
                  ElideMiddle(Printable(row.name), kKernelNameWidth)});
  }
  std::string text = "\n" + table.ToString();
  if (shown < coverage.unknown.size()) {
    text += fmt::format("  and {} more; --json lists all\n",
                        coverage.unknown.size() - shown);
  }
  return text;
}

}  // namespace

std::string MillisecondsText(Duration time) {
  return fmt::format("{:.3f}", ToMilliseconds(time));
}

std::string MillisecondsText(double us) {
  return fmt::format("{:.3f}", us / 1e3);
}

std::string MicrosecondsText(Duration time) {
  return fmt::format("{:.1f}", ToMicroseconds(time));
}

std::string PercentText(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

std::string PercentText(Duration part, Duration whole) {
  if (whole <= Duration{}) {
    return "-";
  }
  return PercentText(static_cast<double>(part.count()) /
                     static_cast<double>(whole.count()));
}

std::string PercentCell(double percent) {
  return fmt::format("{:.1f}", percent);
}

std::string BytesText(Bytes bytes) {
  if (bytes.count <= 0) {
    return "-";
  }
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB",
                                                      "TB"};
  auto value = static_cast<double>(bytes.count);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string CountText(int64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", WithThousands(count), singular,
                     count == 1 ? "" : "s");
}

std::string Joined(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string CoverageText(const Coverage& coverage) {
  if (coverage.works == 0) {
    return "";
  }
  std::string text =
      coverage.time > Duration{}
          ? "\n  GPU time by family, summed over works: those that run at the "
            "same time count twice\n"
          : "\n  works by family; there are no times\n";
  return text + FamilyTable(coverage) + UnknownTable(coverage);
}

std::string DiagnosticText(const Diagnostic& diagnostic,
                           std::string_view where) {
  std::vector<std::string> examples;
  for (const std::string& example : diagnostic.examples) {
    if (!std::ranges::count(examples, Printable(example))) {
      examples.push_back(Printable(example));
    }
  }
  std::string text = fmt::format(
      "  {} ({}, {}{}): {}\n", diagnostic.kind.name,
      diagnostic.kind.severity == Severity::kInfo ? "info" : "warning",
      WithThousands(diagnostic.count), where, diagnostic.kind.what);
  if (!examples.empty()) {
    text += fmt::format("    e.g. {}\n", fmt::join(examples, "; "));
  }
  return text + fmt::format("    advice: {}\n", diagnostic.kind.advice);
}

}  // namespace stepcast::report
