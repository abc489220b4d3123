#include "html/waterfall.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "html/drawing.h"
#include "html/escape.h"

namespace stepcast::html {
namespace {

// In units of the drawing.
constexpr double kStepNameWidth = 180;
constexpr double kStepTimeWidth = 100;
constexpr double kStepHeight = 16;
constexpr double kStepPitch = 22;
// Bars of less could not be seen; steps below this share are told together.
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

}  // namespace stepcast::html
