// The axis of a chart: where a number is drawn, and which numbers are written.
#ifndef STEPCAST_VIEW_HTML_SCALE_H_
#define STEPCAST_VIEW_HTML_SCALE_H_

#include <string>
#include <vector>

namespace stepcast::html {

// What the drawings of a page have in common.

/// In units of the drawing, which scales to the width of the page.
inline constexpr double kDrawingWidth = 1000;

/// From numbers between `least` and `most` to places between `begin` and `end`.
class Scale {
 public:
  Scale(double least, double most, bool is_log, double begin, double end);

  double At(double number) const;
  /// Round numbers along the axis, from the least on.
  const std::vector<double>& ticks() const { return ticks_; }
  double least() const { return least_; }

 private:
  double least_ = 0;
  double most_ = 1;
  bool is_log_ = false;
  double begin_ = 0;
  double end_ = 1;
  std::vector<double> ticks_;
};

/// "1.5M", "200k", "0.25".
std::string TickText(double number);

}  // namespace stepcast::html

#endif  // STEPCAST_VIEW_HTML_SCALE_H_
