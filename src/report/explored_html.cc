// A study as one HTML page: charts, the Pareto front, tornados, the table.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text_table.h"
#include "explore/pareto.h"
#include "explore/where.h"
#include "html/chart.h"
#include "html/page.h"
#include "report/explored.h"

namespace stepcast::report {
namespace {

using explore::CellReader;
using explore::ChartSpec;
using explore::Explored;
using explore::Number;

constexpr size_t kMostTableRows = 500;

std::string TitleOf(std::string_view column) {
  if (const auto number = explore::FindNumber(column)) {
    const explore::NumberColumn& known =
        explore::NumberColumns()[static_cast<size_t>(*number)];
    return known.unit.empty() ? std::string(known.name)
                              : fmt::format("{} ({})", known.name, known.unit);
  }
  return std::string(column);
}

// What a row is, in a few words.
std::string LabelOf(const Explored& explored, const CellReader& cells,
                    std::string_view y) {
  std::string label;
  for (const std::string& column : explore::VaryingColumns(explored.study)) {
    label += fmt::format("{} {}, ", column, cells.at(column).text);
  }
  return label + fmt::format("{} {}", y, cells.at(y).text);
}

// Series by their name, in the order in which they come.
template <typename Series>
Series& SeriesOf(std::vector<Series>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Series::name);
  if (found != all.end()) {
    return *found;
  }
  Series made;
  made.name = name;
  all.push_back(std::move(made));
  return all.back();
}

// Those of the shown rows that the chart is about.
std::vector<int64_t> RowsOf(const Explored& explored, const ChartSpec& spec,
                            std::span<const int64_t> shown) {
  const auto where =
      explore::Where::Parse(spec.where, explore::ColumnNames(explored.study));
  std::vector<int64_t> rows;
  CellReader cells(explored);
  for (const int64_t row : shown) {
    cells.Seek(row);
    if (spec.where.empty() || (where && where->Holds(cells))) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::string LinesHtml(const Explored& explored, const ChartSpec& spec,
                      std::span<const int64_t> shown) {
  html::Chart chart;
  chart.kind = spec.kind == ChartSpec::Kind::kLines
                   ? html::Chart::Kind::kLines
                   : html::Chart::Kind::kPoints;
  chart.title = spec.title;
  chart.x_title = TitleOf(spec.x);
  chart.y_title = TitleOf(spec.y);
  chart.log_x = spec.log_x;
  chart.log_y = spec.log_y;
  CellReader cells(explored);
  for (const int64_t row : shown) {
    cells.Seek(row);
    const auto x = cells.at(spec.x).number;
    const auto y = cells.at(spec.y).number;
    html::ChartSeries& series = SeriesOf(
        chart.series, spec.series.empty() ? "" : cells.at(spec.series).text);
    if (x && y) {
      series.points.push_back(
          {.x = *x, .y = *y, .label = LabelOf(explored, cells, spec.y)});
    }
  }
  for (html::ChartSeries& series : chart.series) {
    std::ranges::stable_sort(series.points, {}, &html::ChartPoint::x);
  }
  return html::ChartHtml(chart);
}

std::string BarsHtml(const Explored& explored, const ChartSpec& spec,
                     std::span<const int64_t> shown) {
  html::BarChart chart;
  chart.title = spec.title;
  chart.y_title = TitleOf(spec.y);
  std::map<std::pair<std::string, std::string>, double> values;
  CellReader cells(explored);
  for (const int64_t row : shown) {
    cells.Seek(row);
    const std::string group = cells.at(spec.x).text;
    const std::string name =
        spec.series.empty() ? spec.y : cells.at(spec.series).text;
    SeriesOf(chart.series, name);
    if (std::ranges::find(chart.groups, group) == chart.groups.end()) {
      chart.groups.push_back(group);
    }
    values[{group, name}] = cells.at(spec.y).number.value_or(NAN);
  }
  for (html::BarChart::Series& series : chart.series) {
    for (const std::string& group : chart.groups) {
      const auto found = values.find({group, series.name});
      series.values.push_back(found == values.end() ? NAN : found->second);
    }
  }
  return html::BarChartHtml(chart);
}

// Charts for a study that names none: throughput over its first numbers.
std::vector<ChartSpec> UsualCharts(const Explored& explored) {
  ChartSpec spec{.title = "Throughput", .y = "samples_per_s"};
  for (const explore::Axis& axis : explored.study.axes) {
    const bool numbers =
        std::ranges::all_of(axis.values, [](const explore::AxisValue& value) {
          return value.settings.size() == 1 &&
                 value.settings.front().value.number.has_value();
        });
    if (axis.values.size() > 1 && numbers && spec.x.empty()) {
      spec.x = axis.name;
      spec.kind = ChartSpec::Kind::kLines;
    } else if (axis.values.size() > 1) {
      spec.series = axis.name;
    }
  }
  if (spec.x.empty()) {
    spec.kind = ChartSpec::Kind::kBars;
    std::swap(spec.x, spec.series);
  }
  return spec.x.empty() ? std::vector<ChartSpec>() : std::vector{spec};
}

void AddPareto(const Explored& explored, html::Page& page) {
  const auto columns = explore::FindParetoColumns(explored);
  if (!columns) {
    return;
  }
  const auto name = [](Number number) {
    return std::string(
        explore::NumberColumns()[static_cast<size_t>(number)].name);
  };
  const std::vector<int64_t> front =
      explore::ParetoFront(explored.rows, *columns);
  html::Chart chart{.kind = html::Chart::Kind::kPoints,
                    .title = fmt::format("{} against {}", name(columns->more),
                                         name(columns->less)),
                    .x_title = TitleOf(name(columns->less)),
                    .y_title = TitleOf(name(columns->more)),
                    .join_marked = true};
  const std::vector<std::string> varying =
      explore::VaryingColumns(explored.study);
  CellReader cells(explored);
  for (int64_t row = 0; row < std::ssize(explored.rows); ++row) {
    cells.Seek(row);
    const double x = cells.row().at(columns->less);
    const double y = cells.row().at(columns->more);
    if (!std::isnan(x) && !std::isnan(y)) {
      SeriesOf(chart.series,
               varying.empty() ? "" : cells.at(varying.front()).text)
          .points.push_back(
              {.x = x,
               .y = y,
               .label = LabelOf(explored, cells, name(columns->more)),
               .marked = std::ranges::find(front, row) != front.end()});
    }
  }
  page.AddSection("Pareto front",
                  "Large points: no other row has more for less.");
  page.AddHtml(html::ChartHtml(chart));
}

void AddTornados(const std::vector<explore::Tornado>& tornados,
                 html::Page& page) {
  if (tornados.empty()) {
    return;
  }
  page.AddSection("What the conclusions hang on",
                  "Each input that is not known well at its low and its high "
                  "value, all others as they are.");
  for (const explore::Tornado& tornado : tornados) {
    html::TornadoChart chart;
    chart.title =
        fmt::format("{}: {}{}", tornado.name,
                    tornado.is_ratio ? "ratio of " : "", tornado.metric);
    chart.usual = tornado.usual;
    html::Table table{
        .head = {"input", "why", "low", "high", "at low", "at high"},
        .rows = {},
        .words = 2};
    for (const explore::TornadoBar& bar : tornado.bars) {
      chart.bars.push_back({.name = bar.setting,
                            .low = bar.low,
                            .high = bar.high,
                            .at_low = bar.at_low,
                            .at_high = bar.at_high});
      table.rows.push_back({bar.setting, bar.why, bar.low, bar.high,
                            fmt::format("{:.4g}", bar.at_low),
                            fmt::format("{:.4g}", bar.at_high)});
    }
    page.AddHtml(html::TornadoHtml(chart));
    page.AddTable(table);
  }
}

void AddRows(const Explored& explored, std::span<const int64_t> shown,
             html::Page& page) {
  html::Table table;
  table.head = ShownColumns(explored, shown);
  table.words = 0;
  CellReader cells(explored);
  for (const int64_t row :
       shown.first(std::min(shown.size(), kMostTableRows))) {
    cells.Seek(row);
    std::vector<std::string> texts;
    for (const std::string& column : table.head) {
      texts.push_back(cells.at(column).text);
    }
    table.rows.push_back(std::move(texts));
  }
  page.AddSection(
      "Rows",
      shown.size() > kMostTableRows
          ? fmt::format("The first {} of {}; --csv has all.", kMostTableRows,
                        WithThousands(static_cast<int64_t>(shown.size())))
          : "");
  page.AddTable(table);
}

}  // namespace

std::string ExploredHtml(const Explored& explored,
                         std::span<const int64_t> shown,
                         const std::vector<explore::Tornado>& tornados,
                         std::string_view version) {
  const explore::Study& study = explored.study;
  html::Page page(study.name, study.title);
  const std::vector<ChartSpec> charts =
      study.charts.empty() ? UsualCharts(explored) : study.charts;
  page.AddSection("Charts", study.notes);
  for (const ChartSpec& spec : charts) {
    const std::vector<int64_t> drawn = RowsOf(explored, spec, shown);
    page.AddHtml(spec.kind == ChartSpec::Kind::kBars
                     ? BarsHtml(explored, spec, drawn)
                     : LinesHtml(explored, spec, drawn));
  }
  AddPareto(explored, page);
  AddTornados(tornados, page);
  AddRows(explored, shown, page);
  if (!study.source.empty()) {
    page.AddNotes({study.source});
  }
  return page.Take(version);
}

}  // namespace stepcast::report
