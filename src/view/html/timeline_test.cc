#include "view/html/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::html {
namespace {

using ::testing::HasSubstr;

TEST(TimelineTest, TextsAreKeptOnce) {
  Timeline timeline;
  const uint32_t first = timeline.Intern("gemm");
  EXPECT_NE(timeline.Intern("copy"), first);
  EXPECT_EQ(timeline.Intern("gemm"), first);
  EXPECT_EQ(timeline.text(first), "gemm");
}

TEST(TimelineTest, StartsAreDifferences) {
  Timeline timeline;
  const uint32_t name = timeline.Intern("</script>");
  const uint32_t style = timeline.Intern("compute");
  timeline.rows.push_back({"rank 0",
                           "stream 7",
                           {{Duration{10}, Duration{5}, name, style},
                            {Duration{30}, Duration{70}, name, style}}});
  const std::string html = timeline.ToHtml();
  EXPECT_THAT(html, HasSubstr("10,5,0,1,20,70,0,1"));
  EXPECT_THAT(html, HasSubstr("\"\\u003c/script>\""));
}

TEST(TimelineTest, TheLegendHasStylesThatOccur) {
  Timeline timeline;
  timeline.legend = {{"copy", "copies"}, {"op", "ops"}};
  timeline.rows.push_back({"rank 0",
                           "stream 7",
                           {{.duration = Duration(5),
                             .name = timeline.Intern("x"),
                             .style = timeline.Intern("copy")}}});
  EXPECT_THAT(timeline.ToHtml(), HasSubstr("part copy\"></i>copies</span>"));
  EXPECT_THAT(timeline.ToHtml(), testing::Not(HasSubstr("ops</span>")));
}

TEST(TimelineTest, MarksAreDrawnWithAndWithoutScripts) {
  Timeline timeline;
  timeline.least_length = Duration(1000);
  timeline.marks = {{Duration(250), "step begins"}};
  const std::string html = timeline.ToHtml();
  EXPECT_THAT(html, HasSubstr("\"at\":250,\"name\":\"step begins\""));
  // A quarter of 900, after 180 for names.
  EXPECT_THAT(html, HasSubstr("<line x1=\"405.0\" x2=\"405.0\""));
  EXPECT_THAT(html, HasSubstr("<title>step begins</title>"));
}

TEST(TimelineTest, NothingIsATimelineToo) {
  EXPECT_THAT(Timeline().ToHtml(), HasSubstr("\"rows\":[]"));
}

}  // namespace
}  // namespace stepcast::html
