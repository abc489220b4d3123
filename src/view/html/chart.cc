#include "view/html/chart.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text/text_table.h"
#include "view/html/escape.h"
#include "view/html/scale.h"

namespace stepcast::html {
namespace {

// In units of the drawing.
constexpr double kChartHeight = 420;
constexpr double kLeft = 90;
constexpr double kRight = 20;
constexpr double kTop = 20;
constexpr double kBottom = 60;
constexpr double kRowHeight = 30;
constexpr size_t kColors = 10;  // Of the style sheet: c0 to c9.

std::string ColorOf(size_t series) {
  return fmt::format("c{}", series % kColors);
}

std::string Legend(const std::vector<std::string>& names) {
  if (names.size() < 2) {
    return "";
  }
  std::string html = "<p class=\"legend\">";
  for (size_t i = 0; i < names.size(); ++i) {
    html += fmt::format("<span><i class=\"{}\"></i>{}</span> ", ColorOf(i),
                        Escape(names[i]));
  }
  return html + "</p>\n";
}

std::string Text(double x, double y, std::string_view style,
                 std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n",
                     x, y, style, Escape(text));
}

std::string Line(double x1, double y1, double x2, double y2,
                 std::string_view style) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
      "class=\"{}\"/>\n",
      x1, y1, x2, y2, style);
}

std::string Begin(std::string_view title, double height) {
  return fmt::format(
      "<svg class=\"chart\" role=\"img\" aria-label=\"{}\" "
      "viewBox=\"0 0 {:.0f} {:.0f}\">\n",
      Escape(title), kDrawingWidth, height);
}

// Lines across at the numbers of the y axis, which stand left of them.
std::string YAxis(const Scale& scale, std::string_view title) {
  std::string svg;
  for (const double tick : scale.ticks()) {
    const double y = scale.At(tick);
    svg += Line(kLeft, y, kDrawingWidth - kRight, y, "grid");
    svg += Text(kLeft - 8, y + 4, "end", TickText(tick));
  }
  return svg + fmt::format(
                   "<text x=\"14\" y=\"{0:.1f}\" class=\"middle\" "
                   "transform=\"rotate(-90 14 {0:.1f})\">{1}</text>\n",
                   (kTop + kChartHeight - kBottom) / 2, Escape(title));
}

std::string XAxis(const Scale& scale, std::string_view title) {
  std::string svg;
  const double bottom = kChartHeight - kBottom;
  for (const double tick : scale.ticks()) {
    const double x = scale.At(tick);
    svg += Line(x, bottom, x, bottom + 5, "axis");
    svg += Text(x, bottom + 20, "middle", TickText(tick));
  }
  svg += Line(kLeft, bottom, kDrawingWidth - kRight, bottom, "axis");
  return svg + Text((kLeft + kDrawingWidth - kRight) / 2, kChartHeight - 12,
                    "middle", title);
}

// Words below each other, as they fit into `width`.
std::string Below(double x, double y, double width, std::string_view text) {
  constexpr double kLetter = 7;  // Of the style sheet's 12 px, on average.
  constexpr double kLine = 14;
  std::string svg;
  std::string line;
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    text = blank == std::string_view::npos ? std::string_view()
                                           : text.substr(blank + 1);
    const auto letters = static_cast<double>(line.size() + 1 + word.size());
    if (!line.empty() && letters * kLetter > width) {
      svg += Text(x, y, "middle", line);
      y += kLine;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  return svg + Text(x, y, "middle", line);
}

struct Extent {
  double least = HUGE_VAL;
  double most = -HUGE_VAL;
  void Add(double number) {
    least = std::min(least, number);
    most = std::max(most, number);
  }
  bool empty() const { return least > most; }
};

bool IsDrawn(const Chart& chart, const ChartPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y) &&
         (!chart.log_x || point.x > 0) && (!chart.log_y || point.y > 0);
}

std::string Polyline(const std::vector<std::pair<double, double>>& places,
                     std::string_view style) {
  std::string text;
  for (const auto& [x, y] : places) {
    text += fmt::format("{:.1f},{:.1f} ", x, y);
  }
  return fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", text, style);
}

std::string SeriesSvg(const Chart& chart, size_t number, const Scale& x_scale,
                      const Scale& y_scale) {
  const ChartSeries& series = chart.series[number];
  std::string svg;
  std::vector<std::pair<double, double>> places;
  for (const ChartPoint& point : series.points) {
    if (!IsDrawn(chart, point)) {
      continue;
    }
    const double x = x_scale.At(point.x);
    const double y = y_scale.At(point.y);
    if (chart.kind == Chart::Kind::kLines) {
      places.emplace_back(x, y);
    }
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" class=\"{}\">"
        "<title>{}</title></circle>\n",
        x, y, point.marked ? 6 : 3.5, ColorOf(number),
        Escape(point.label.empty()
                   ? fmt::format("{}: {} {}", series.name, TickText(point.x),
                                 TickText(point.y))
                   : point.label));
  }
  return places.empty() ? svg
                        : Polyline(places, "line " + ColorOf(number)) + svg;
}

// A line through the marked points of all series, from left to right.
std::string FrontSvg(const Chart& chart, const Scale& x_scale,
                     const Scale& y_scale) {
  std::vector<std::pair<double, double>> places;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      if (point.marked && IsDrawn(chart, point)) {
        places.emplace_back(x_scale.At(point.x), y_scale.At(point.y));
      }
    }
  }
  std::ranges::sort(places);
  return Polyline(places, "line front");
}

std::string NothingHtml(std::string_view title) {
  return fmt::format(
      "<h3>{}</h3>\n<p>Nothing to draw: no row has both "
      "numbers.</p>\n",
      Escape(title));
}

}  // namespace

std::string ChartHtml(const Chart& chart) {
  Extent x;
  Extent y;
  std::vector<std::string> names;
  for (const ChartSeries& series : chart.series) {
    names.push_back(series.name);
    for (const ChartPoint& point : series.points) {
      if (IsDrawn(chart, point)) {
        x.Add(point.x);
        y.Add(point.y);
      }
    }
  }
  if (x.empty()) {
    return NothingHtml(chart.title);
  }
  const Scale x_scale(x.least, x.most, chart.log_x, kLeft,
                      kDrawingWidth - kRight);
  const Scale y_scale(chart.log_y ? y.least : std::min(y.least, 0.0), y.most,
                      chart.log_y, kChartHeight - kBottom, kTop);
  std::string html = fmt::format("<h3>{}</h3>\n", Escape(chart.title));
  html += Legend(names);
  html += Begin(chart.title, kChartHeight);
  html += YAxis(y_scale, chart.y_title);
  html += XAxis(x_scale, chart.x_title);
  if (chart.join_marked) {
    html += FrontSvg(chart, x_scale, y_scale);
  }
  for (size_t i = 0; i < chart.series.size(); ++i) {
    html += SeriesSvg(chart, i, x_scale, y_scale);
  }
  return html + "</svg>\n";
}

std::string BarChartHtml(const BarChart& chart) {
  Extent extent;
  std::vector<std::string> names;
  for (const BarChart::Series& series : chart.series) {
    names.push_back(series.name);
    for (const double value : series.values) {
      if (std::isfinite(value)) {
        extent.Add(value);
      }
    }
  }
  if (extent.empty() || chart.groups.empty()) {
    return NothingHtml(chart.title);
  }
  const Scale scale(std::min(extent.least, 0.0), extent.most, false,
                    kChartHeight - kBottom, kTop);
  std::string html = fmt::format("<h3>{}</h3>\n", Escape(chart.title));
  html += Legend(names);
  html += Begin(chart.title, kChartHeight);
  html += YAxis(scale, chart.y_title);
  const double pitch = (kDrawingWidth - kLeft - kRight) /
                       static_cast<double>(chart.groups.size());
  const double width =
      pitch * 0.8 / static_cast<double>(std::max<size_t>(names.size(), 1));
  for (size_t group = 0; group < chart.groups.size(); ++group) {
    const double left = kLeft + pitch * (static_cast<double>(group) + 0.1);
    for (size_t i = 0; i < chart.series.size(); ++i) {
      const double value = group < chart.series[i].values.size()
                               ? chart.series[i].values[group]
                               : NAN;
      if (!std::isfinite(value)) {
        continue;
      }
      const double y = scale.At(std::max(value, 0.0));
      html += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "class=\"{}\"><title>{}, {}: {}</title></rect>\n",
          left + width * static_cast<double>(i), y, width * 0.95,
          std::abs(scale.At(0) - scale.At(value)), ColorOf(i),
          Escape(chart.groups[group]), Escape(names[i]), TickText(value));
    }
    html += Below(left + pitch * 0.4, kChartHeight - kBottom + 18, pitch,
                  chart.groups[group]);
  }
  html += Line(kLeft, scale.At(0), kDrawingWidth - kRight, scale.At(0), "axis");
  return html + "</svg>\n";
}

std::string TornadoHtml(const TornadoChart& chart) {
  constexpr double kNames = 260;
  constexpr size_t kMostLetters = 36;
  Extent extent;
  extent.Add(chart.usual);
  for (const TornadoChart::Bar& bar : chart.bars) {
    for (const double value : {bar.at_low, bar.at_high}) {
      if (std::isfinite(value)) {
        extent.Add(value);
      }
    }
  }
  if (!std::isfinite(chart.usual)) {
    return NothingHtml(chart.title);
  }
  const double height =
      kTop + kRowHeight * static_cast<double>(chart.bars.size()) + 40;
  const Scale scale(extent.least, extent.most, false, kNames,
                    kDrawingWidth - 60);
  std::string html = fmt::format("<h3>{}</h3>\n", Escape(chart.title));
  html += Legend({"at the low value", "at the high value"});
  html += Begin(chart.title, height);
  for (size_t i = 0; i < chart.bars.size(); ++i) {
    const TornadoChart::Bar& bar = chart.bars[i];
    const double y = kTop + kRowHeight * static_cast<double>(i);
    html += Text(
        kNames - 10, y + 17, "end",
        ElideMiddle(fmt::format("{} {} to {}", bar.name, bar.low, bar.high),
                    kMostLetters));
    size_t color = 0;
    for (const double value : {bar.at_low, bar.at_high}) {
      if (std::isfinite(value)) {
        const double from = std::min(scale.At(chart.usual), scale.At(value));
        html += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
            "height=\"{:.1f}\" class=\"{}\"><title>{} {}: {:.4g}</title>"
            "</rect>\n",
            from, y + 4, std::abs(scale.At(value) - scale.At(chart.usual)),
            kRowHeight - 10, ColorOf(color), Escape(bar.name),
            Escape(color == 0 ? bar.low : bar.high), value);
      }
      ++color;
    }
  }
  const double bottom = height - 30;
  html +=
      Line(scale.At(chart.usual), kTop, scale.At(chart.usual), bottom, "axis");
  for (const double tick : scale.ticks()) {
    html += Text(scale.At(tick), bottom + 18, "middle", TickText(tick));
  }
  return html + "</svg>\n";
}

}  // namespace stepcast::html
