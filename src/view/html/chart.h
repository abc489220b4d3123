// Charts: lines, points and bars over two axes, and tornados.
#ifndef STEPCAST_VIEW_HTML_CHART_H_
#define STEPCAST_VIEW_HTML_CHART_H_

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::html {

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::string label{};  // For who points at it.
  bool marked = false;  // Drawn larger, as those of a front are.
};

struct ChartSeries {
  std::string name{};
  std::vector<ChartPoint> points{};
};

/// Series over numbers.
struct Chart {
  enum class Kind : uint8_t { kLines, kPoints };
  Kind kind = Kind::kLines;
  std::string title{};
  std::string x_title{};
  std::string y_title{};
  bool log_x = false;
  bool log_y = false;
  std::vector<ChartSeries> series{};
  bool join_marked = false;  // A line through the marked points.
};

/// The chart as an <svg> with a legend; points tell their label to who points
/// at them. On a logarithmic axis what is not above 0 is left out.
std::string ChartHtml(const Chart& chart);

/// Series over words: groups of bars, side by side.
struct BarChart {
  std::string title{};
  std::string y_title{};
  std::vector<std::string> groups{};
  /// Each with a value for each group; not a number: none.
  struct Series {
    std::string name{};
    std::vector<double> values{};
  };
  std::vector<Series> series{};
};
std::string BarChartHtml(const BarChart& chart);

/// What a number becomes when one thing at a time is lower or higher.
struct TornadoChart {
  std::string title{};
  double usual = 0;
  struct Bar {
    std::string name{};
    std::string low{};
    std::string high{};
    double at_low = 0;
    double at_high = 0;
  };
  std::vector<Bar> bars{};
};
std::string TornadoHtml(const TornadoChart& chart);

}  // namespace stepcast::html

#endif  // STEPCAST_VIEW_HTML_CHART_H_
