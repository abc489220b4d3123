#include "view/html/bars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::html {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Bars TwoBars() {
  return {.parts = {{"compute", "compute"},
                    {"copies", "copy"},
                    {"idle <host>", "idle-host"}},
          .bars = {{"rank 0",
                    {Duration{3'000'000}, Duration{}, Duration{1'000'000}}},
                   {"rank 1", {Duration{2'000'000}, Duration{}, Duration{}}}}};
}

TEST(BarsTest, PartsShareTheScaleOfTheLongestBar) {
  const std::string html = BarsHtml(TwoBars());
  // 820 units are the longest bar's 4 ms.
  EXPECT_THAT(html, HasSubstr("x=\"90.00\" y=\"0.0\" width=\"615.00\""));
  EXPECT_THAT(html, HasSubstr("x=\"705.00\" y=\"0.0\" width=\"205.00\""));
  EXPECT_THAT(html, HasSubstr("x=\"90.00\" y=\"24.0\" width=\"410.00\""));
  EXPECT_THAT(html, HasSubstr("compute: 3.000 ms (75.0 %)"));
}

TEST(BarsTest, PartsWithoutTimeAreNotInTheLegend) {
  const std::string html = BarsHtml(TwoBars());
  EXPECT_THAT(html, Not(HasSubstr("copies")));
  EXPECT_THAT(html, HasSubstr("idle &lt;host&gt;"));
}

TEST(BarsTest, ALabelStandsForTheLength) {
  Bars bars = TwoBars();
  bars.bars[0].label = "1 < 2";
  EXPECT_THAT(BarsHtml(bars), HasSubstr("class=\"bar-time\">1 &lt; 2</text>"));
}

TEST(BarsTest, SaysHowManyAreLeftOut) {
  EXPECT_THAT(BarsHtml(TwoBars(), 1), HasSubstr("... and 1 more"));
  EXPECT_THAT(BarsHtml(TwoBars(), 1), Not(HasSubstr("rank 1")));
}

TEST(BarsTest, NothingIsDrawnOfNothing) {
  EXPECT_THAT(BarsHtml({}), Not(HasSubstr("<rect")));
}

Waterfall Example() {
  return {.begin_name = "before",
          .begin = Duration{4'000'000},
          .steps = {{"gemm <a>", Duration{-2'000'000}},
                    {"copies", Duration{1'000'000}},
                    {"sort", Duration{-10'000}},
                    {"fill", Duration{-10'000}}},
          .end_name = "after"};
}

// 720 units are the 4 ms at the beginning, after 180 of names.
TEST(WaterfallTest, EachStepBeginsWhereTheLastEnded) {
  const std::string html = WaterfallHtml(Example());
  EXPECT_THAT(html, HasSubstr("x=\"180.00\" y=\"0.0\" width=\"720.00\""));
  EXPECT_THAT(html, HasSubstr("x=\"540.00\" y=\"22.0\" width=\"360.00\""));
  EXPECT_THAT(html, HasSubstr("x=\"540.00\" y=\"44.0\" width=\"180.00\""));
  // 4 - 2 + 1 - 0.02 = 2.98 ms.
  EXPECT_THAT(html, HasSubstr("after: 2.980 ms"));
}

TEST(WaterfallTest, GainsAndLossesHaveTheirColours) {
  const std::string html = WaterfallHtml(Example());
  EXPECT_THAT(html, HasSubstr("class=\"part gain\"><title>gemm &lt;a&gt;: "
                              "-2.000 ms</title>"));
  EXPECT_THAT(html, HasSubstr("class=\"part loss\"><title>copies: +1.000 ms"));
}

TEST(WaterfallTest, SmallStepsAreReportedTogether) {
  const std::string html = WaterfallHtml(Example());
  EXPECT_THAT(html, HasSubstr("the rest: -0.020 ms"));
  EXPECT_THAT(html, Not(HasSubstr("sort")));
}

TEST(WaterfallTest, WhatGoesUpOnTheWayStaysInTheDrawing) {
  Waterfall waterfall = Example();
  std::swap(waterfall.steps[0], waterfall.steps[1]);
  // 5 ms is the highest point: 720 units.
  EXPECT_THAT(WaterfallHtml(waterfall),
              HasSubstr("x=\"756.00\" y=\"22.0\" width=\"144.00\""));
}

TEST(WaterfallTest, NothingToNothingIsTwoRows) {
  EXPECT_THAT(WaterfallHtml({.begin_name = "a", .end_name = "b"}),
              HasSubstr("viewBox=\"0 0 1000 44\""));
}

}  // namespace
}  // namespace stepcast::html
