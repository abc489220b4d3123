#include "base/files/toml_read.h"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

toml::table Parse(std::string_view text) {
  auto table = ParseToml(text, "x.toml");
  EXPECT_TRUE(table) << table.error().message;
  return table ? *std::move(table) : toml::table();
}

TEST(TomlReadTest, ReadsStringsAndLists) {
  const toml::table table = Parse("name = \"a\"\nlist = [\n  'b*', 'c',\n]\n");
  EXPECT_EQ(GetString(table, "name"), "a");
  EXPECT_EQ(GetOptionalString(table, "name"), "a");
  EXPECT_EQ(GetOptionalString(table, "other"), "");
  EXPECT_THAT(*GetStrings(table, "list"), ElementsAre("b*", "c"));
}

TEST(TomlReadTest, BrokenSyntaxNamesFileAndLine) {
  const auto table = ParseToml("a = 1\nb = [1, \n\n= 2", "dir/x.toml");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(table.error().message, StartsWith("dir/x.toml:4: error "));
}

TEST(TomlReadTest, WrongTypesNameFileAndLine) {
  const toml::table table = Parse("a = 1\nb = ''\nc = ['x',\n 2]\nd = []\n");
  EXPECT_EQ(GetString(table, "a").error().message,
            "x.toml:1: 'a' must be a string");
  EXPECT_THAT(GetString(table, "b").error().message,
              HasSubstr("'b' is missing or empty"));
  EXPECT_THAT(GetStrings(table, "c").error().message, StartsWith("x.toml:4: "));
  EXPECT_FALSE(GetStrings(table, "d"));
  EXPECT_FALSE(GetStrings(table, "e"));
}

TEST(TomlReadTest, UnknownKeysAreNamedWithWhatWasExpected) {
  constexpr std::array<std::string_view, 2> kKnown = {"match", "family"};
  EXPECT_TRUE(CheckKeys(Parse("match = 1"), kKnown));
  EXPECT_EQ(CheckKeys(Parse("match = 1\nfamly = 2"), kKnown).error().message,
            "x.toml:2: unknown key 'famly'; expected one of: match, family");
}

TEST(TomlReadTest, DeepNestingAndInvalidBytesAreErrorsNotCrashes) {
  EXPECT_FALSE(ParseToml("a = " + std::string(100'000, '['), "x.toml"));
  EXPECT_FALSE(ParseToml("a = '\xFF'", "x.toml"));
  EXPECT_FALSE(ParseToml(std::string("a\0 = 1", 6), "x.toml"));
}

TEST(TomlReadTest, AMissingFileIsNamed) {
  const auto table = LoadToml("no/such/file.toml");
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().message, HasSubstr("no/such/file.toml"));
}

TEST(TomlReadTest, ForeignCharactersOnlyInStringsAndComments) {
  const auto failed = ParseToml("a = 1\nb = [5, 6\u0262\n", "x.toml");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message,
            "x.toml:2: a character that is not ASCII; expected those in "
            "strings and comments only");
  EXPECT_TRUE(
      ParseToml("\xEF\xBB\xBF"
                "a = \"\u0262\" # \u0262\n"
                "b = '\u0262'\nc = \"\"\"\n\u0262\"\"\"\n",
                "x.toml"));
  // A quote inside of a word begins no string.
  for (const char* text :
       {"a = \"\"\"b \\\xEF\xBB\xBB\"\"\"\n", "a = 2$[\"s\xCF\x9A\"]\n",
        "a = [256\"\xC8\xBE\"]\n", "a = 1.'\xC3\xA9'\n",
        "a = true\"\xC3\xA9\"\n", "a = 'b''\xC3\xA9'\n"}) {
    const auto word = ParseToml(text, "x.toml");
    ASSERT_FALSE(word) << text;
    EXPECT_THAT(word.error().message, HasSubstr("not ASCII")) << text;
  }
  EXPECT_TRUE(
      ParseToml("a = ['\xC3\xA9',\"\xC3\xA9\"]\n'\xC3\xA9' = 1\n"
                "b = {c='\xC3\xA9'} # \xC3\xA9\n",
                "x.toml"));
}

TEST(TomlReadTest, AMalformedHeaderIsAnError) {
  EXPECT_FALSE(ParseToml("[ = 2.0 }\n", "x.toml"));
}

}  // namespace
}  // namespace stepcast
