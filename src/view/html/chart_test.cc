#include "view/html/chart.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/html/scale.h"

namespace stepcast::html {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ScaleTest, TicksAreRoundAndReachTheEnds) {
  const Scale scale(0, 47, false, 0, 100);
  EXPECT_THAT(scale.ticks(), ElementsAre(0, 10, 20, 30, 40, 50));
  EXPECT_DOUBLE_EQ(scale.At(25), 50);
}

TEST(ScaleTest, LogarithmsSpreadFactorsEvenly) {
  const Scale scale(1, 10000, true, 0, 100);
  EXPECT_NEAR(scale.At(100), 50, 1e-9);
  EXPECT_EQ(scale.ticks().size(), 5u);
}

TEST(ScaleTest, OneNumberHasRoomAroundIt) {
  const Scale scale(5, 5, false, 0, 100);
  EXPECT_GE(scale.At(5), 0);
  EXPECT_LE(scale.At(5), 100);
}

TEST(TickTextTest, ThousandsHaveLetters) {
  EXPECT_EQ(TickText(1'500'000), "1.5M");
  EXPECT_EQ(TickText(200), "200");
  EXPECT_EQ(TickText(0.25), "0.25");
}

TEST(ChartTest, SeriesAreLinesWithAPointForEachNumber) {
  Chart chart{.title = "a < b", .log_x = true};
  chart.series.push_back(
      {.name = "one", .points = {{1, 2}, {10, 3}, {0, 4}, {NAN, 1}}});
  chart.series.push_back({.name = "two", .points = {{5, 5}}});
  const std::string html = ChartHtml(chart);
  EXPECT_THAT(html, HasSubstr("a &lt; b"));
  // What a logarithm cannot show is left out.
  size_t circles = 0;
  for (size_t at = html.find("<circle"); at != std::string::npos;
       at = html.find("<circle", at + 1)) {
    ++circles;
  }
  EXPECT_EQ(circles, 3u);
  EXPECT_THAT(html, HasSubstr("class=\"legend\""));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(ChartTest, EmptyChartsSaySo) {
  EXPECT_THAT(ChartHtml({.title = "t"}), HasSubstr("Nothing to draw"));
  EXPECT_THAT(BarChartHtml({.title = "t"}), HasSubstr("Nothing to draw"));
}

TEST(BarChartTest, BarsAreAsHighAsTheirNumbers) {
  BarChart chart{.groups = {"x", "y"}};
  chart.series.push_back({.name = "a", .values = {10, NAN}});
  const std::string html = BarChartHtml(chart);
  // 340 units stand for 0 to 10.
  EXPECT_THAT(html, HasSubstr("height=\"340.0\""));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(TornadoTest, BarsBeginAtTheUsualValue) {
  TornadoChart chart{.title = "t", .usual = 1};
  chart.bars.push_back(
      {.name = "x", .low = "1", .high = "2", .at_low = 0, .at_high = 2});
  // 0 to 2 spans 260 to 940: 1 is at 600.
  const std::string html = TornadoHtml(chart);
  EXPECT_THAT(html, HasSubstr("<rect x=\"260.0\" y=\"24.0\" width=\"340.0\""));
  EXPECT_THAT(html, HasSubstr("<rect x=\"600.0\" y=\"24.0\" width=\"340.0\""));
}

}  // namespace
}  // namespace stepcast::html
