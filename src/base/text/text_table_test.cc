// Tests of text for people: tables, widths and safe printing.
#include "base/text/text_table.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace stepcast {
namespace {

using enum Align;

TEST(TextTableTest, AlignsColumnsWithoutTrailingSpaces) {
  TextTable table({kLeft, kRight, kLeft}, "  ");
  table.AddRow({"stream", "us", "what"});
  table.AddRow({"7", "1234", ""});
  table.AddRow({"20"});
  EXPECT_EQ(table.ToString(),
            "  stream    us  what\n"
            "  7       1234\n"
            "  20\n");
}

TEST(TextTableTest, WidthIsInCharactersNotBytes) {
  TextTable table({kLeft, kLeft});
  table.AddRow({"\xC2\xB5s", "x"});  // A micro sign is two bytes.
  table.AddRow({"abc", "y"});
  EXPECT_EQ(table.ToString(), "\xC2\xB5s   x\nabc  y\n");
}

TEST(TextTableTest, CellsBeyondTheLastColumnAreDropped) {
  TextTable table({kLeft});
  EXPECT_TRUE(table.empty());
  table.AddRow({"a", "b"});
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.ToString(), "a\n");
}

TEST(ElideMiddleTest, KeepsBothEnds) {
  EXPECT_EQ(ElideMiddle("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(ElideMiddle("abcdefghi", 8), "abc...hi");
  EXPECT_EQ(ElideMiddle("\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5", 5),
            "\xC2\xB5...\xC2\xB5");
}

TEST(ElideMiddleTest, SurvivesBrokenUtf8) {
  const std::string broken(50, '\x80');
  EXPECT_LE(ElideMiddle(broken + "abcdefghijkl", 8).size(), 62);
}

TEST(WithThousandsTest, PutsACommaEveryThreeDigits) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(-1234567), "-1,234,567");
  EXPECT_EQ(WithThousands(-123), "-123");
  EXPECT_EQ(WithThousands(std::numeric_limits<int64_t>::min()),
            "-9,223,372,036,854,775,808");
}

TEST(PrintableTest, ReplacesWhatATerminalShouldNotGet) {
  EXPECT_EQ(Printable("a\x1B[2J\n\x7F"), "a?[2J??");
  EXPECT_EQ(Printable("\xFF\xC2\xB5\xC2"), "?\xC2\xB5?");
}

}  // namespace
}  // namespace stepcast
