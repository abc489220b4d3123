#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/html/timeline.h"

namespace stepcast::html {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Names and styles of slices.
struct Fixture {
  Timeline timeline;
  uint32_t name = timeline.Intern("x");
  uint32_t compute = timeline.Intern("compute");
  uint32_t copy = timeline.Intern("copy");
};

TEST(OverviewTest, AColumnHasTheStyleThatTakesMost) {
  Fixture f;
  f.timeline.rows.push_back(
      {"rank 0",
       "stream 7",
       {{Duration{0}, Duration{1}, f.name, f.copy},
        {Duration{1}, Duration{899'999}, f.name, f.compute}}});
  const std::string html = OverviewHtml(f.timeline);
  EXPECT_THAT(html,
              HasSubstr("x=\"180\" y=\"16.0\" width=\"900\" height=\"12\" "
                        "class=\"part compute\"/>"));
  EXPECT_THAT(html, Not(HasSubstr("class=\"part copy\"")));
}

// Columns of 1 us: the first is busy for 0.3 us, the last all the time.
TEST(OverviewTest, AColumnIsAsStrongAsItIsBusy) {
  Fixture f;
  f.timeline.rows.push_back(
      {"rank 0",
       "stream 7",
       {{Duration{0}, Duration{300}, f.name, f.compute},
        {Duration{899'000}, Duration{1'000}, f.name, f.compute}}});
  const std::string html = OverviewHtml(f.timeline);
  EXPECT_THAT(html, HasSubstr("x=\"180\" y=\"16.0\" width=\"1\" height=\"12\" "
                              "class=\"part compute\" opacity=\"0.50\"/>"));
  EXPECT_THAT(html, HasSubstr("x=\"1079\" y=\"16.0\" width=\"1\" "
                              "height=\"12\" class=\"part compute\"/>"));
}

TEST(OverviewTest, RoundTimesStandOnTheAxis) {
  Fixture f;
  f.timeline.rows.push_back(
      {"rank 0",
       "stream 7",
       {{Duration{0}, Duration{9'000'000}, f.name, f.compute}}});
  const std::string html = OverviewHtml(f.timeline);
  EXPECT_THAT(html,
              HasSubstr("<text x=\"183.0\" y=\"10\" class=\"tick\">0 ms"));
  // 900 columns for 9 ms.
  EXPECT_THAT(html,
              HasSubstr("<text x=\"383.0\" y=\"10\" class=\"tick\">2 ms"));
}

TEST(OverviewTest, RowsThatAreLeftOutAreCounted) {
  Fixture f;
  f.timeline.rows.resize(65, {"rank 0", "stream 7", {}});
  EXPECT_THAT(OverviewHtml(f.timeline), HasSubstr("5 more rows"));
}

}  // namespace
}  // namespace stepcast::html
