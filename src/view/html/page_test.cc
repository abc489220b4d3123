#include "view/html/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::html {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(PageTest, IsWholeAndNeedsNothingElse) {
  const std::string html = Page("a step", "3 ms").Take("1.2");
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("<style>\n:root"));
  EXPECT_THAT(html, HasSubstr("<footer>stepcast 1.2</footer>"));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr(" src=")));
}

TEST(PageTest, EscapesWhatItIsGiven) {
  Page page("<b>&\"", "x < y");
  page.AddSection("<x1>", "<x2>");
  page.AddFacts({{"<x3>", "<x4>", "<x5>"}});
  page.AddNotes({"<x6>"});
  const std::string html = page.Take("<x7>");
  EXPECT_THAT(html, HasSubstr("<h1>&lt;b&gt;&amp;&quot;</h1>"));
  EXPECT_THAT(html, HasSubstr("x &lt; y"));
  for (int i = 1; i <= 7; ++i) {
    const std::string name = "x" + std::to_string(i);
    EXPECT_THAT(html, HasSubstr("&lt;" + name + "&gt;"));
    EXPECT_THAT(html, Not(HasSubstr("<" + name)));
  }
}

}  // namespace
}  // namespace stepcast::html
