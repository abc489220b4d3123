#include "html/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/json_write.h"
#include "html/escape.h"

namespace stepcast::html {
namespace {

// The drawing for those without scripts: as fine as a screen shows.
constexpr size_t kColumns = 900;
constexpr double kNameWidth = 180;
constexpr double kPitch = 16;
constexpr double kHeight = 12;
constexpr size_t kMostRows = 60;

// The style that takes most of each column, as runs of equal columns.
std::string RowSvg(const Timeline& timeline, const Row& row, Duration length,
                   double y) {
  struct Share {
    Duration time{};
    uint32_t style = 0;
  };
  std::array<Share, kColumns> columns{};
  const double scale =
      static_cast<double>(kColumns) / static_cast<double>(length.count());
  for (const Slice& slice : row.slices) {
    const auto first = static_cast<size_t>(
        std::clamp(std::floor(static_cast<double>(slice.start.count()) * scale),
                   0.0, static_cast<double>(kColumns - 1)));
    const auto last = static_cast<size_t>(std::clamp(
        std::floor(static_cast<double>((slice.start + slice.duration).count()) *
                   scale),
        static_cast<double>(first), static_cast<double>(kColumns - 1)));
    for (size_t column = first; column <= last; ++column) {
      if (slice.duration > columns[column].time) {
        columns[column] = {.time = slice.duration, .style = slice.style};
      }
    }
  }
  std::string svg = fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.1f}\" class=\"bar-name\">{} {}</text>\n",
      kNameWidth - 6, y + kHeight - 2, Escape(row.group), Escape(row.name));
  for (size_t begin = 0; begin < kColumns;) {
    size_t end = begin + 1;
    const bool busy = columns[begin].time > Duration{};
    while (end < kColumns && (columns[end].time > Duration{}) == busy &&
           columns[end].style == columns[begin].style) {
      ++end;
    }
    if (busy) {
      svg += fmt::format(
          "<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.0f}\" "
          "class=\"part {}\"/>",
          kNameWidth + static_cast<double>(begin), y, end - begin, kHeight,
          Escape(timeline.text(columns[begin].style)));
    }
    begin = end;
  }
  return svg + "\n";
}

}  // namespace

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

std::string Timeline::Overview(Duration length) const {
  const size_t shown = std::min(rows.size(), kMostRows);
  std::string svg = fmt::format(
      "<div class=\"overview\">\n<svg role=\"img\" viewBox=\"0 0 {:.0f} "
      "{:.0f}\">\n",
      kNameWidth + static_cast<double>(kColumns),
      kPitch * static_cast<double>(shown));
  for (size_t i = 0; i < shown; ++i) {
    svg += RowSvg(*this, rows[i], length, kPitch * static_cast<double>(i));
  }
  svg += "</svg>\n";
  if (shown < rows.size()) {
    svg += fmt::format("<p>... and {} more rows</p>\n", rows.size() - shown);
  }
  return svg + "</div>\n";
}

// Starts are differences to the slice before: short numbers.
std::string Timeline::Json() const {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginObject();
  json.Key("length").Int(Length().count());
  json.Key("linked").Bool(linked);
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

std::string Timeline::ToHtml() const {
  return fmt::format(
      "<div class=\"timeline\">\n{}"
      "<script type=\"application/json\" class=\"timeline-data\">{}</script>\n"
      "</div>\n",
      Overview(Length()), EscapeScript(Json()));
}

}  // namespace stepcast::html
