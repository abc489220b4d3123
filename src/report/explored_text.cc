// A study as text and as CSV.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text_table.h"
#include "explore/pareto.h"
#include "report/csv_cell.h"
#include "report/explored.h"

namespace stepcast::report {
namespace {

using explore::Cell;
using explore::CellReader;
using explore::Explored;
using explore::Number;

// Shown unless the study says otherwise, where a row knows them.
constexpr std::string_view kUsual[] = {"samples_per_s",
                                       "step_us",
                                       "p10_us",
                                       "p90_us",
                                       "gpu_active",
                                       "hbm_gb",
                                       "host_gb",
                                       "servers_gb",
                                       "power_w",
                                       "samples_per_joule",
                                       "samples_per_dollar",
                                       "bound_by",
                                       "note"};

bool IsWord(std::string_view column) {
  const scenario::Setting* const kind = scenario::FindSetting(column);
  return column == "point" || column == "bound_by" || column == "note" ||
         (kind != nullptr && kind->type == scenario::ValueType::kWord);
}

// With the unit that is not in the name already.
std::string HeadOf(std::string_view column) {
  if (const auto number = explore::FindNumber(column)) {
    const explore::NumberColumn& known =
        explore::NumberColumns()[static_cast<size_t>(*number)];
    const bool share = known.unit.empty() && *number != Number::kFits;
    return share ? fmt::format("{} %", column) : std::string(column);
  }
  return std::string(column);
}

// Fewer digits than programs get: shares in percent, large numbers whole.
std::string ShownText(std::string_view column, const Cell& cell) {
  const auto number = explore::FindNumber(column);
  if (!number || !cell.number) {
    return cell.text;
  }
  const explore::NumberColumn& known =
      explore::NumberColumns()[static_cast<size_t>(*number)];
  if (known.unit.empty() && *number != Number::kFits) {
    return fmt::format("{:.1f}", 100 * *cell.number);
  }
  constexpr double kLarge = 1000;
  return std::abs(*cell.number) >= kLarge
             ? WithThousands(std::llround(*cell.number))
             : fmt::format("{:.4g}", *cell.number);
}

std::string Counts(const Explored& explored, size_t shown) {
  int64_t unfit = 0;
  int64_t cannot = 0;
  for (const explore::Row& row : explored.rows) {
    unfit += row.at(Number::kFits) == 0 ? 1 : 0;
    cannot += std::isnan(row.at(Number::kFits)) ? 1 : 0;
  }
  std::string text =
      fmt::format("{} rows", WithThousands(std::ssize(explored.rows)));
  if (shown < explored.rows.size()) {
    text +=
        fmt::format(", {} shown", WithThousands(static_cast<int64_t>(shown)));
  }
  if (unfit > 0) {
    text += fmt::format("; {} do not fit in memory", WithThousands(unfit));
  }
  if (cannot > 0) {
    text += fmt::format("; {} cannot run", WithThousands(cannot));
  }
  return text;
}

}  // namespace

std::vector<std::string> ShownColumns(const Explored& explored,
                                      std::span<const int64_t> shown) {
  if (!explored.study.columns.empty()) {
    return explored.study.columns;
  }
  std::vector<std::string> columns = explore::VaryingColumns(explored.study);
  CellReader cells(explored);
  for (const std::string_view column : kUsual) {
    const bool known = std::ranges::any_of(shown, [&](int64_t row) {
      cells.Seek(row);
      return !cells.at(column).text.empty();
    });
    if (known) {
      columns.emplace_back(column);
    }
  }
  return columns;
}

std::string ExploredText(const Explored& explored,
                         std::span<const int64_t> shown) {
  const std::vector<std::string> columns = ShownColumns(explored, shown);
  std::vector<Align> aligns;
  std::vector<std::string> head;
  for (const std::string& column : columns) {
    aligns.push_back(IsWord(column) ? Align::kLeft : Align::kRight);
    head.push_back(HeadOf(column));
  }
  TextTable table(aligns);
  table.AddRow(std::move(head));
  CellReader cells(explored);
  for (const int64_t row : shown) {
    cells.Seek(row);
    std::vector<std::string> texts;
    for (const std::string& column : columns) {
      const std::string text = ShownText(column, cells.at(column));
      texts.push_back(text.empty() ? "-" : text);
    }
    table.AddRow(std::move(texts));
  }
  const std::string title =
      explored.study.title.empty()
          ? explored.study.name
          : fmt::format("{}: {}", explored.study.name, explored.study.title);
  std::string text = fmt::format(
      "{}\n{}\n\n{}", title, Counts(explored, shown.size()), table.ToString());
  if (const auto pareto = explore::FindParetoColumns(explored)) {
    const auto front = explore::ParetoFront(explored.rows, *pareto);
    constexpr size_t kMostListed = 20;
    const size_t listed = std::min(front.size(), kMostListed);
    text += fmt::format(
        "\nPareto front, {} against {}: row{} {}{}\n",
        explore::NumberColumns()[static_cast<size_t>(pareto->more)].name,
        explore::NumberColumns()[static_cast<size_t>(pareto->less)].name,
        front.size() == 1 ? "" : "s",
        fmt::join(front.begin(),
                  front.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
        listed < front.size() ? ", ..." : "");
  }
  return text;
}

std::string ExploredCsv(const Explored& explored,
                        std::span<const int64_t> shown) {
  const std::vector<std::string> columns = explore::ColumnNames(explored.study);
  std::vector<bool> on_front(explored.rows.size());
  if (const auto pareto = explore::FindParetoColumns(explored)) {
    for (const int64_t row : explore::ParetoFront(explored.rows, *pareto)) {
      on_front[static_cast<size_t>(row)] = true;
    }
  }
  std::string csv = fmt::format("{},pareto\n", fmt::join(columns, ","));
  CellReader cells(explored);
  for (const int64_t row : shown) {
    cells.Seek(row);
    for (const std::string& column : columns) {
      csv += CsvCell(cells.at(column).text) + ",";
    }
    csv += on_front[static_cast<size_t>(row)] ? "1\n" : "0\n";
  }
  return csv;
}

std::string TornadosText(const explore::Study& study,
                         const std::vector<explore::Tornado>& tornados) {
  std::string text = fmt::format("{}: what conclusions hang on\n", study.name);
  for (const explore::Tornado& tornado : tornados) {
    text += fmt::format("\n{}: {}{} is {:.4g}\n", tornado.name,
                        tornado.is_ratio ? "ratio of " : "", tornado.metric,
                        tornado.usual);
    TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                     Align::kRight, Align::kLeft},
                    "  ");
    table.AddRow({"input", "low", "high", "at low", "at high", "why"});
    for (const explore::TornadoBar& bar : tornado.bars) {
      const auto number = [](double value) {
        return std::isnan(value) ? std::string("-")
                                 : fmt::format("{:.4g}", value);
      };
      table.AddRow({bar.setting, bar.low, bar.high, number(bar.at_low),
                    number(bar.at_high), bar.why});
    }
    text += table.ToString();
  }
  return tornados.empty()
             ? fmt::format("{}: no sensitivity is asked for\n", study.name)
             : text;
}

}  // namespace stepcast::report
