#include "html/bars.h"

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

}  // namespace
}  // namespace stepcast::html
