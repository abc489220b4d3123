#include "report/explored_charts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/join.h"
#include "explore/where.h"

namespace stepcast::report {
namespace {

using explore::CellReader;
using explore::ChartSpec;
using explore::Explored;

std::string AxisTitle(std::string_view column) {
  const auto unit = explore::UnitOfColumn(column);
  return explore::FindNumber(column) && unit && !unit->empty()
             ? fmt::format("{} ({})", column, *unit)
             : std::string(column);
}

std::string PointLabel(const Explored& explored, const CellReader& cells,
                       std::string_view y) {
  const std::string what = WhatVaries(explored, cells);
  return fmt::format("{}{}{} {}", what, what.empty() ? "" : ", ", y,
                     cells.at(y).text);
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
std::vector<int64_t> RowsOf(const ChartSubject& subject,
                            const ChartSpec& spec) {
  if (spec.where.empty()) {
    return {subject.rows.begin(), subject.rows.end()};
  }
  const auto where = explore::Where::Parse(
      spec.where, explore::ColumnNames(subject.explored.study));
  std::vector<int64_t> rows;
  CellReader cells(subject.explored);
  for (const int64_t row : subject.rows) {
    cells.Seek(row);
    if (where && where->Holds(cells)) {
      rows.push_back(row);
    }
  }
  return rows;
}

html::Chart LinesOf(const ChartSubject& subject, const ChartSpec& spec) {
  html::Chart chart;
  chart.kind = spec.kind == ChartSpec::Kind::kLines
                   ? html::Chart::Kind::kLines
                   : html::Chart::Kind::kPoints;
  chart.title = spec.title;
  chart.x_title = AxisTitle(spec.x);
  chart.y_title = AxisTitle(spec.y);
  chart.log_x = spec.log_x;
  chart.log_y = spec.log_y;
  chart.join_marked = subject.marked != nullptr;
  CellReader cells(subject.explored);
  for (const int64_t row : RowsOf(subject, spec)) {
    cells.Seek(row);
    const auto x = cells.at(spec.x).number;
    const auto y = cells.at(spec.y).number;
    html::ChartSeries& series = SeriesOf(
        chart.series, spec.series.empty() ? "" : cells.at(spec.series).text);
    if (x && y) {
      series.points.push_back(
          {.x = *x,
           .y = *y,
           .label = PointLabel(subject.explored, cells, spec.y),
           .marked = subject.marked != nullptr &&
                     (*subject.marked)[static_cast<size_t>(row)]});
    }
  }
  for (html::ChartSeries& series : chart.series) {
    std::ranges::stable_sort(series.points, {}, &html::ChartPoint::x);
  }
  return chart;
}

html::BarChart BarsOf(const ChartSubject& subject, const ChartSpec& spec) {
  html::BarChart chart;
  chart.title = spec.title;
  chart.y_title = AxisTitle(spec.y);
  std::map<std::pair<std::string, std::string>, double> values;
  CellReader cells(subject.explored);
  for (const int64_t row : RowsOf(subject, spec)) {
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
  return chart;
}

// Charts for a study that names none: throughput over its first numbers.
std::vector<ChartSpec> UsualCharts(const explore::Study& study) {
  ChartSpec spec{.title = "Throughput", .y = "samples_per_s"};
  for (const explore::Axis& axis : study.axes) {
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

}  // namespace

std::string WhatVaries(const Explored& explored, const CellReader& cells) {
  std::vector<std::string> words;
  for (const std::string& column : explore::VaryingColumns(explored.study)) {
    words.push_back(fmt::format("{} {}", column, cells.at(column).text));
  }
  return Join(words, ", ");
}

std::vector<ChartSpec> ChartsOf(const explore::Study& study) {
  return study.charts.empty() ? UsualCharts(study) : study.charts;
}

view::AnyChart DrawChart(const ChartSubject& subject, const ChartSpec& spec) {
  return spec.kind == ChartSpec::Kind::kBars
             ? view::AnyChart(BarsOf(subject, spec))
             : view::AnyChart(LinesOf(subject, spec));
}

}  // namespace stepcast::report
