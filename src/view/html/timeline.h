// A timeline that can be looked at in a browser: drawn once for those without
// scripts, and data that the page's script zooms into.
#ifndef STEPCAST_VIEW_HTML_TIMELINE_H_
#define STEPCAST_VIEW_HTML_TIMELINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/units.h"

namespace stepcast::html {

/// Something that lasted. `name` and `style` are numbers of Timeline::Intern.
struct Slice {
  Duration start{};
  Duration duration{};
  uint32_t name = 0;
  uint32_t style = 0;
};

/// One row; its slices do not overlap and come in order.
struct Row {
  std::string group;  // "rank 0"
  std::string name;   // "stream 7"
  std::vector<Slice> slices;
};

/// A moment that is marked through all rows.
struct Mark {
  Duration at{};
  std::string name;  // "step begins"
};

/// What slices of a style are.
struct StyleName {
  std::string style;
  std::string name;
};

class Timeline {
 public:
  /// The number of a text; the same for the same text.
  uint32_t Intern(std::string_view text);
  std::string_view text(uint32_t number) const { return texts_[number]; }

  std::vector<Row> rows;
  std::vector<Mark> marks;
  std::vector<StyleName> legend;  // In this order; of styles that occur.
  /// The least time that the axis covers, so that two timelines have one scale.
  Duration least_length{};
  /// Moves and zooms together with the others of the page that are linked.
  bool linked = false;

  /// Up to the end of the last slice, or `least_length`.
  Duration Length() const;

  /// The drawing and the data, for one page.
  std::string ToHtml() const;

 private:
  std::string Json() const;
  std::string LegendHtml() const;

  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

// A timeline drawn once, for those without scripts: as fine as a screen shows.

/// Of every row the first so many, with an axis on top. A column of the drawing
/// has the style that takes most of it and is as strong as it is busy.
std::string OverviewHtml(const Timeline& timeline);

}  // namespace stepcast::html

#endif  // STEPCAST_VIEW_HTML_TIMELINE_H_
