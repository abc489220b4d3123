// Stacked bars: where the time of several things went, side by side.
#ifndef STEPCAST_VIEW_HTML_BARS_H_
#define STEPCAST_VIEW_HTML_BARS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/units.h"

namespace stepcast::html {

// How one time becomes another: a step for each part that differs.

struct WaterfallStep {
  std::string name;  // "gemm"
  Duration delta{};  // Negative is a gain.
};

/// `begin` and the deltas sum to the end.
struct Waterfall {
  std::string begin_name{};
  Duration begin{};
  std::vector<WaterfallStep> steps{};
  std::string end_name{};
};

/// An <svg>, a row for the beginning, for each step and for the end. Steps
/// below half a percent of the longer of the two are combined.
std::string WaterfallHtml(const Waterfall& waterfall);

/// A part that every bar may have. `style` is a class of the style sheet that
/// gives its colour: "compute", "communication", "copy", "idle-host", ...
struct BarPart {
  std::string name;
  std::string style;
};

struct Bar {
  std::string name;             // "rank 3"
  std::vector<Duration> times;  // One a part.
  std::string label{};          // After the bar; empty: its length.
};

struct Bars {
  std::vector<BarPart> parts;
  std::vector<Bar> bars;
  /// For names, of the 1,000 that the drawing is wide.
  double name_width = 90;
};

/// The bars on one scale, with a legend of the parts that occur; an <svg> that
/// shows a part's time when the mouse is over it. At most `most` bars are
/// drawn; a line says how many are not.
std::string BarsHtml(const Bars& bars, size_t most = 64);

}  // namespace stepcast::html

#endif  // STEPCAST_VIEW_HTML_BARS_H_
