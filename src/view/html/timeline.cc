#include "view/html/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "view/html/escape.h"
#include "view/html/scale.h"

namespace stepcast::html {
namespace {

// In units of the drawing, which scales to the width of the page.
constexpr size_t kColumns = 900;
constexpr double kRowNameWidth = 180;
constexpr double kAxisHeight = 16;
constexpr double kRowPitch = 16;
constexpr double kRowBarHeight = 12;
constexpr size_t kMostRows = 60;
// A time on the axis needs so much room.
constexpr double kTickWidth = 60;
// How many strengths are distinguished: more would only cut equal columns.
constexpr int kStrengths = 4;

struct Column {
  double busy = 0;  // Of its time, by all slices.
  double most = 0;  // By the slice of `style`.
  uint32_t style = 0;

  // From 0, idle, to kStrengths.
  int strength(double width) const {
    return std::min(kStrengths,
                    static_cast<int>(std::ceil(kStrengths * busy / width)));
  }
};

using Columns = std::array<Column, kColumns>;

// `width`: nanoseconds a column.
Columns FillColumns(const Row& row, double width) {
  Columns columns{};
  constexpr auto kLast = static_cast<double>(kColumns - 1);
  for (const Slice& slice : row.slices) {
    const auto start = static_cast<double>(slice.start.count());
    const double end = start + static_cast<double>(slice.duration.count());
    const auto first =
        static_cast<size_t>(std::clamp(std::floor(start / width), 0.0, kLast));
    const auto last = static_cast<size_t>(
        std::clamp(std::floor(end / width), static_cast<double>(first), kLast));
    for (size_t i = first; i <= last; ++i) {
      const double left = width * static_cast<double>(i);
      const double part = std::min(end, left + width) - std::max(start, left);
      Column& column = columns[i];
      column.busy += std::max(part, 0.0);
      if (part > column.most) {
        column.most = part;
        column.style = slice.style;
      }
    }
  }
  return columns;
}

// Equal columns side by side are one rectangle.
std::string RowSvg(const Timeline& timeline, const Row& row, double width,
                   double y) {
  const Columns columns = FillColumns(row, width);
  std::string svg = fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.1f}\" class=\"bar-name\">{} {}</text>\n",
      kRowNameWidth - 6, y + kRowBarHeight - 2, Escape(row.group),
      Escape(row.name));
  for (size_t begin = 0; begin < kColumns;) {
    const int strength = columns[begin].strength(width);
    size_t end = begin + 1;
    while (end < kColumns && columns[end].strength(width) == strength &&
           columns[end].style == columns[begin].style) {
      ++end;
    }
    if (strength > 0) {
      svg += fmt::format(
          "<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.0f}\" "
          "class=\"part {}\"",
          kRowNameWidth + static_cast<double>(begin), y, end - begin,
          kRowBarHeight, Escape(timeline.text(columns[begin].style)));
      if (strength < kStrengths) {
        svg += fmt::format(" opacity=\"{:.2f}\"",
                           static_cast<double>(strength) / kStrengths);
      }
      svg += "/>";
    }
    begin = end;
  }
  return svg + "\n";
}

std::string AxisSvg(Duration length, double height) {
  constexpr auto kWidth = static_cast<double>(kColumns);
  const double milliseconds = ToMilliseconds(length);
  const Scale scale(0, milliseconds, /*is_log=*/false, 0, kWidth);
  std::string svg;
  for (const double tick : scale.ticks()) {
    const double x = kWidth * tick / milliseconds;
    if (x + kTickWidth > kWidth) {
      break;
    }
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1:.0f}\" "
        "class=\"grid\"/><text x=\"{2:.1f}\" y=\"10\" class=\"tick\">{3} ms"
        "</text>\n",
        kRowNameWidth + x, height, kRowNameWidth + x + 3, TickText(tick));
  }
  return svg;
}

std::string MarksSvg(const Timeline& timeline, double height) {
  const auto length = static_cast<double>(timeline.Length().count());
  std::string svg;
  for (const Mark& mark : timeline.marks) {
    const double x = kRowNameWidth + static_cast<double>(kColumns) *
                                         static_cast<double>(mark.at.count()) /
                                         length;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1:.0f}\" "
        "class=\"mark\"><title>{2}</title></line>\n",
        x, height, Escape(mark.name));
  }
  return svg;
}

}  // namespace

std::string OverviewHtml(const Timeline& timeline) {
  const Duration length = timeline.Length();
  const double width = static_cast<double>(length.count()) / kColumns;
  const size_t shown = std::min(timeline.rows.size(), kMostRows);
  const double height = kAxisHeight + kRowPitch * static_cast<double>(shown);
  std::string html = fmt::format(
      "<div class=\"overview drawing\">\n<svg role=\"img\" viewBox=\"0 0 "
      "{:.0f} "
      "{:.0f}\">\n",
      kRowNameWidth + static_cast<double>(kColumns), height);
  html += AxisSvg(length, height);
  for (size_t i = 0; i < shown; ++i) {
    html += RowSvg(timeline, timeline.rows[i], width,
                   kAxisHeight + kRowPitch * static_cast<double>(i));
  }
  html += MarksSvg(timeline, height);
  html += "</svg>\n<p>Paler: busy for a part of the time.";
  if (!timeline.marks.empty()) {
    html += " Dashed lines: where the step begins and ends.";
  }
  if (shown < timeline.rows.size()) {
    html += fmt::format(" {} more rows are left out.",
                        timeline.rows.size() - shown);
  }
  return html + "</p>\n</div>\n";
}

uint32_t Timeline::Intern(std::string_view text) {
  const auto [place, added] = numbers_.try_emplace(
      std::string(text), static_cast<uint32_t>(texts_.size()));
  if (added) {
    texts_.emplace_back(text);
  }
  return place->second;
}

Duration Timeline::Length() const {
  Duration length = std::max(least_length, Duration{1});
  for (const Row& row : rows) {
    for (const Slice& slice : row.slices) {
      length = std::max(length, slice.start + slice.duration);
    }
  }
  return length;
}

// Starts are differences to the slice before: short numbers.
std::string Timeline::Json() const {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginObject();
  json.Key("length").Int(Length().count());
  json.Key("linked").Bool(linked);
  json.Key("marks").BeginArray();
  for (const Mark& mark : marks) {
    json.BeginObject();
    json.Key("at").Int(mark.at.count());
    json.Key("name").String(mark.name);
    json.EndObject();
  }
  json.EndArray();
  json.Key("texts").BeginArray();
  for (const std::string& text : texts_) {
    json.String(text);
  }
  json.EndArray();
  json.Key("rows").BeginArray();
  for (const Row& row : rows) {
    json.BeginObject();
    json.Key("group").String(row.group);
    json.Key("name").String(row.name);
    json.Key("slices").BeginArray();
    Duration last{};
    for (const Slice& slice : row.slices) {
      json.Int((slice.start - last).count());
      json.Int(slice.duration.count());
      json.Int(slice.name);
      json.Int(slice.style);
      last = slice.start;
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

std::string Timeline::LegendHtml() const {
  std::set<std::string_view> used;
  for (const Row& row : rows) {
    for (const Slice& slice : row.slices) {
      used.insert(texts_[slice.style]);
    }
  }
  std::string spans;
  for (const StyleName& style : legend) {
    if (used.contains(style.style)) {
      spans += fmt::format("<span><i class=\"part {}\"></i>{}</span> ",
                           Escape(style.style), Escape(style.name));
    }
  }
  return spans.empty() ? ""
                       : fmt::format("<p class=\"legend\">{}</p>\n", spans);
}

std::string Timeline::ToHtml() const {
  return fmt::format(
      "<div class=\"timeline\">\n{}{}"
      "<script type=\"application/json\" class=\"timeline-data\">{}</script>\n"
      "</div>\n",
      LegendHtml(), OverviewHtml(*this), EscapeScript(Json()));
}

}  // namespace stepcast::html
