#include "html/bars.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "html/drawing.h"
#include "html/escape.h"

namespace stepcast::html {
namespace {

// In units of the drawing.
constexpr double kBarTimeWidth = 90;
constexpr double kBarHeight = 18;
constexpr double kBarPitch = 24;

double Share(Duration part, Duration whole) {
  return whole <= Duration{} ? 0
                             : static_cast<double>(part.count()) /
                                   static_cast<double>(whole.count());
}

Duration LengthOf(const Bar& bar) {
  return std::accumulate(bar.times.begin(), bar.times.end(), Duration{});
}

std::string Milliseconds(Duration time) {
  return fmt::format("{:.3f} ms", ToMicroseconds(time) / 1e3);
}

std::string BarSvg(const Bars& bars, const Bar& bar, Duration longest,
                   double y) {
  const Duration length = LengthOf(bar);
  std::string svg = fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"bar-name\">{}</text>\n",
      bars.name_width - 8, y + kBarHeight - 5, Escape(bar.name));
  double x = bars.name_width;
  for (size_t i = 0; i < bar.times.size() && i < bars.parts.size(); ++i) {
    const double width = (kDrawingWidth - bars.name_width - kBarTimeWidth) *
                         Share(bar.times[i], longest);
    if (bar.times[i] > Duration{}) {
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" "
          "class=\"part {}\"><title>{}: {} ({:.1f} %)</title></rect>\n",
          x, y, width, kBarHeight, Escape(bars.parts[i].style),
          Escape(bars.parts[i].name), Milliseconds(bar.times[i]),
          100 * Share(bar.times[i], length));
    }
    x += width;
  }
  return svg +
         fmt::format(
             "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"bar-time\">{}"
             "</text>\n",
             x + 6, y + kBarHeight - 5,
             bar.label.empty() ? Milliseconds(length) : Escape(bar.label));
}

}  // namespace

std::string BarsHtml(const Bars& bars, size_t most) {
  Duration longest{};
  std::vector<bool> used(bars.parts.size());
  for (const Bar& bar : bars.bars) {
    longest = std::max(longest, LengthOf(bar));
    for (size_t i = 0; i < bar.times.size() && i < used.size(); ++i) {
      used[i] = used[i] || bar.times[i] > Duration{};
    }
  }
  std::string html = "<p class=\"legend\">";
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) {
      html +=
          fmt::format("<span><i class=\"part {}\"></i>{}</span> ",
                      Escape(bars.parts[i].style), Escape(bars.parts[i].name));
    }
  }
  const size_t shown = std::min(bars.bars.size(), most);
  html += fmt::format(
      "</p>\n<div class=\"drawing\"><svg class=\"bars\" role=\"img\" "
      "viewBox=\"0 0 {:.0f} {:.0f}\">\n",
      kDrawingWidth, kBarPitch * static_cast<double>(shown));
  for (size_t i = 0; i < shown; ++i) {
    html +=
        BarSvg(bars, bars.bars[i], longest, kBarPitch * static_cast<double>(i));
  }
  html += "</svg></div>\n";
  if (shown < bars.bars.size()) {
    html += fmt::format("<p>... and {} more</p>\n", bars.bars.size() - shown);
  }
  return html;
}

}  // namespace stepcast::html
