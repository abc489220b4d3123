#include "view/html/bars.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "view/html/escape.h"
#include "view/html/scale.h"

namespace stepcast::html {
namespace {

// In units of the drawing.
constexpr double kStepNameWidth = 180;
constexpr double kStepTimeWidth = 100;
constexpr double kStepHeight = 16;
constexpr double kStepPitch = 22;
// Smaller bars would be invisible; steps below this share are combined.
constexpr double kLeastBar = 1;
constexpr double kLeastShare = 0.005;

// Rows from the top, on one scale.
class Drawing {
 public:
  explicit Drawing(Duration longest)
      : scale_(longest.count() > 0
                   ? (kDrawingWidth - kStepNameWidth - kStepTimeWidth) /
                         static_cast<double>(longest.count())
                   : 0) {}

  void Add(std::string_view name, Duration from, Duration to,
           std::string_view style, std::string_view text) {
    const double x = kStepNameWidth +
                     static_cast<double>(std::min(from, to).count()) * scale_;
    const double width = std::max(
        static_cast<double>(std::chrono::abs(to - from).count()) * scale_,
        kLeastBar);
    const double y = kStepPitch * static_cast<double>(rows_++);
    svg_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"bar-name\">{}</text>"
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" "
        "class=\"part {}\"><title>{}: {}</title></rect>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"bar-time\">{}</text>\n",
        kStepNameWidth - 8, y + kStepHeight - 4, Escape(name), x, y, width,
        kStepHeight, style, Escape(name), text, x + width + 6,
        y + kStepHeight - 4, text);
  }

  std::string ToHtml() const {
    return fmt::format(
        "<div class=\"drawing\"><svg class=\"waterfall\" role=\"img\" "
        "viewBox=\"0 0 {:.0f} "
        "{:.0f}\">\n{}</svg></div>\n",
        kDrawingWidth, kStepPitch * static_cast<double>(rows_), svg_);
  }

 private:
  const double scale_;
  size_t rows_ = 0;
  std::string svg_;
};

std::string TotalText(Duration time) {
  return fmt::format("{:.3f} ms", ToMilliseconds(time));
}

std::string DeltaText(Duration time) {
  return fmt::format("{:+.3f} ms", ToMilliseconds(time));
}

}  // namespace

std::string WaterfallHtml(const Waterfall& waterfall) {
  // The highest point on the way may be above both ends.
  Duration end = waterfall.begin;
  Duration highest = waterfall.begin;
  for (const WaterfallStep& step : waterfall.steps) {
    end += step.delta;
    highest = std::max(highest, end);
  }
  const auto least = Duration(static_cast<int64_t>(
      kLeastShare *
      static_cast<double>(std::max(waterfall.begin, end).count())));
  Drawing drawing(highest);
  drawing.Add(waterfall.begin_name, {}, waterfall.begin, "total",
              TotalText(waterfall.begin));
  Duration at = waterfall.begin;
  Duration rest{};
  const auto add = [&](std::string_view name, Duration delta) {
    drawing.Add(name, at, at + delta, delta < Duration{} ? "gain" : "loss",
                DeltaText(delta));
    at += delta;
  };
  for (const WaterfallStep& step : waterfall.steps) {
    if (std::chrono::abs(step.delta) > least) {
      add(step.name, step.delta);
    } else {
      rest += step.delta;
    }
  }
  if (rest != Duration{}) {
    add("the rest", rest);
  }
  drawing.Add(waterfall.end_name, {}, end, "total", TotalText(end));
  return drawing.ToHtml();
}

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
