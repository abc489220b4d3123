#include "view/html/tree.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace stepcast::html {
namespace {

size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// a ─ b ─ c ─ d     Unfolded are the first two levels with something below.
//   └ e
// f
TEST(TreeTest, WhatHasSomethingBelowUnfolds) {
  const std::string html = TreeHtml({.name_head = "whose",
                                     .heads = {"ms"},
                                     .nodes = {{0, "a", "", {"9"}},
                                               {1, "b", "", {"5"}},
                                               {2, "c", "", {"4"}},
                                               {3, "d", "", {"4"}},
                                               {1, "e", "", {"3"}},
                                               {0, "f", "", {"1"}}}});
  EXPECT_EQ(CountOf(html, "<details"), 3U);
  EXPECT_EQ(CountOf(html, "<details open>"), 2U);
  EXPECT_EQ(CountOf(html, "</details>"), 3U);
  EXPECT_EQ(CountOf(html, "line leaf"), 3U);
  // e is outside of b and inside a.
  const size_t e = html.find(">e<");
  EXPECT_EQ(CountOf(html.substr(0, e), "</details>"), 2U);
}

TEST(TreeTest, NamesAreText) {
  const std::string html =
      TreeHtml({.name_head = "whose",
                .nodes = {{0, "f<int>", "a.py(1): <module>", {}}}});
  EXPECT_NE(html.find("f&lt;int&gt;"), std::string::npos);
  EXPECT_EQ(html.find("<module>"), std::string::npos);
}

}  // namespace
}  // namespace stepcast::html
