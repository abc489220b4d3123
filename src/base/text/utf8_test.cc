// Tests of walking UTF-8: table 3-7 of the Unicode standard, edge by edge.
#include "base/text/utf8.h"

#include <string_view>

#include <gtest/gtest.h>

namespace stepcast {
namespace {

TEST(Utf8LengthTest, AcceptsTheFirstAndLastSequenceOfEachLength) {
  EXPECT_EQ(Utf8Length(std::string_view("\0", 1)), 1);
  EXPECT_EQ(Utf8Length("\x7F"), 1);
  EXPECT_EQ(Utf8Length("\xC2\x80"), 2);
  EXPECT_EQ(Utf8Length("\xDF\xBF"), 2);
  EXPECT_EQ(Utf8Length("\xE0\xA0\x80"), 3);
  EXPECT_EQ(Utf8Length("\xEF\xBF\xBF"), 3);
  EXPECT_EQ(Utf8Length("\xF0\x90\x80\x80"), 4);
  EXPECT_EQ(Utf8Length("\xF4\x8F\xBF\xBF"), 4);
}

TEST(Utf8LengthTest, RefusesInvalidUtf8) {
  EXPECT_EQ(Utf8Length(""), 0);
  EXPECT_EQ(Utf8Length("\x80"), 0);              // A continuation alone.
  EXPECT_EQ(Utf8Length("\xC0\x80"), 0);          // Overlong.
  EXPECT_EQ(Utf8Length("\xC1\xBF"), 0);          // Overlong.
  EXPECT_EQ(Utf8Length("\xE0\x9F\xBF"), 0);      // Overlong.
  EXPECT_EQ(Utf8Length("\xF0\x8F\xBF\xBF"), 0);  // Overlong.
  EXPECT_EQ(Utf8Length("\xED\xA0\x80"), 0);      // A surrogate.
  EXPECT_EQ(Utf8Length("\xF4\x90\x80\x80"), 0);  // Above U+10FFFF.
  EXPECT_EQ(Utf8Length("\xF5\x80\x80\x80"), 0);
  EXPECT_EQ(Utf8Length("\xFF"), 0);
}

TEST(Utf8LengthTest, RefusesACutSequence) {
  EXPECT_EQ(Utf8Length("\xC2"), 0);
  EXPECT_EQ(Utf8Length("\xE2\x82"), 0);
  EXPECT_EQ(Utf8Length("\xF0\x9F\x98"), 0);
  EXPECT_EQ(Utf8Length("\xE2\x28\x80"), 0);
}

TEST(Utf8LengthTest, LooksOnlyAtTheFirstSequence) {
  EXPECT_EQ(Utf8Length("a\xFF"), 1);
}

}  // namespace
}  // namespace stepcast
