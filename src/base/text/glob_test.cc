#include "base/text/glob.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast {
namespace {

bool Match(std::string_view pattern, std::string_view name) {
  return Glob(pattern).Matches(name);
}

TEST(GlobTest, WithoutAStarOnlyTheNameItselfMatches) {
  EXPECT_TRUE(Match("aten::mm", "aten::mm"));
  EXPECT_FALSE(Match("aten::mm", "aten::mm_"));
  EXPECT_FALSE(Match("aten::mm", "Aten::mm"));
  EXPECT_FALSE(Match("aten::mm", ""));
  EXPECT_TRUE(Match("", ""));
  EXPECT_FALSE(Match("", "a"));
}

TEST(GlobTest, AStarIsAnyTextAlsoNone) {
  EXPECT_TRUE(Match("*", ""));
  EXPECT_TRUE(Match("*", "anything"));
  EXPECT_TRUE(Match("a*", "a"));
  EXPECT_TRUE(Match("*a", "a"));
  EXPECT_TRUE(Match("a*b", "ab"));
  EXPECT_TRUE(Match("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(Match("a*b*c", "a-c-b"));
}

TEST(GlobTest, BothEndsAreAnchored) {
  EXPECT_FALSE(Match("b*", "ab"));
  EXPECT_FALSE(Match("*a", "ab"));
  EXPECT_TRUE(Match("*b*", "abc"));
}

TEST(GlobTest, SegmentsMayNotOverlap) {
  EXPECT_FALSE(Match("aba*aba", "ababa"));
  EXPECT_TRUE(Match("aba*aba", "abaaba"));
  EXPECT_FALSE(Match("a*a", "a"));
  EXPECT_FALSE(Match("*ab*ba", "aba"));
  // The last fragment is matched first.
  EXPECT_TRUE(Match("*x*x", "xx"));
  EXPECT_FALSE(Match("*x*x*x", "xx"));
}

TEST(GlobTest, StarsInARowAreOneStar) {
  EXPECT_TRUE(Match("a**b", "ab"));
  EXPECT_TRUE(Match("***", ""));
  EXPECT_TRUE(Match("**a**", "bab"));
  EXPECT_FALSE(Match("**a**", "bcb"));
}

TEST(GlobTest, NoOtherCharacterIsSpecial) {
  EXPECT_TRUE(Match("?[a-z].\\*", "?[a-z].\\x"));
  EXPECT_FALSE(Match("?", "a"));
  EXPECT_FALSE(Match("[ab]", "a"));
}

TEST(GlobTest, PathologicalPatternsTakeLinearTime) {
  // A backtracking matcher needs more than 10^100 steps here, a naive search
  // for the long fragment 10^10.
  std::string many_stars;
  for (int i = 0; i < 2000; ++i) {
    many_stars += "a*";
  }
  const std::string long_fragment = "*" + std::string(100'000, 'a') + "b*";
  const std::string name(200'000, 'a');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(Match(many_stars + "b", name));
  EXPECT_FALSE(Match("*" + many_stars + "b*", name));
  EXPECT_FALSE(Match(long_fragment, name));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(GlobListTest, TheFirstPatternThatMatchesWins) {
  GlobList list;
  list.Add("*gemm_relu*");
  list.Add("*gemm*");
  list.Add("volta_*");
  list.Add("x");
  EXPECT_EQ(list.FindFirst("ampere_gemm_relu_64x64"), 0);
  EXPECT_EQ(list.FindFirst("volta_sgemm_64x64"), 1);
  EXPECT_EQ(list.FindFirst("volta_scudnn_winograd"), 2);
  EXPECT_EQ(list.FindFirst("x"), 3);
  EXPECT_EQ(list.FindFirst("Gemm"), std::nullopt);
  EXPECT_EQ(list.FindFirst(""), std::nullopt);
}

TEST(GlobListTest, AnswersAsTryingEachPatternWould) {
  // The filter by trigrams must not change the answer.
  const std::vector<std::string> patterns = {
      "void cub::*Scan*",  "*ab*",       "*::*elementwise_kernel<*Fill*",
      "*elementwise*",     "a*c",        "*",
      "ncclDevKernel_*_*", "*Reduce*(*)"};
  const std::vector<std::string> names = {
      "",
      "a",
      "ab",
      "abc",
      "void cub::DeviceScanKernel<int>(int)",
      "void at::native::vectorized_elementwise_kernel<4, FillFunctor<int> >",
      "void at::native::vectorized_elementwise_kernel<4, AddFunctor<int> >",
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
      std::string(5000, 'q')};
  for (size_t leave_out = 0; leave_out < patterns.size(); ++leave_out) {
    GlobList list;
    for (size_t i = leave_out; i < patterns.size(); ++i) {
      list.Add(patterns[i]);
    }
    for (const std::string& name : names) {
      std::optional<size_t> expected;
      for (size_t i = leave_out; i < patterns.size() && !expected; ++i) {
        if (Match(patterns[i], name)) {
          expected = i - leave_out;
        }
      }
      EXPECT_EQ(list.FindFirst(name), expected) << name;
    }
  }
}

}  // namespace
}  // namespace stepcast
