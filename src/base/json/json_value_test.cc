// Tests of single JSON values: members, numbers, escapes.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json/json_read.h"

namespace stepcast {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Optional;

/// The first element of a document, kept readable as long as this lives.
class Parsed {
 public:
  explicit Parsed(std::string_view value)
      : text_("[" + std::string(value) + ",0]"), source_(OpenMemory(text_)) {
    reader_ = std::make_unique<JsonRecordReader>(
        *source_, std::span<const std::string_view>());
    auto item = reader_->Next();
    if (item && item->has_value()) {
      value_ = (*item)->value;
    }
  }

  const JsonValue* operator->() const { return &value_; }

 private:
  std::string text_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<JsonRecordReader> reader_;
  JsonValue value_;
};

TEST(JsonValueTest, KnowsItsType) {
  EXPECT_TRUE(Parsed("{}")->is_object());
  EXPECT_TRUE(Parsed("[1]")->is_array());
  EXPECT_TRUE(Parsed("\"a\"")->is_string());
  EXPECT_TRUE(Parsed(" null ")->is_null());
  EXPECT_FALSE(Parsed("nullx")->is_null());
  EXPECT_FALSE(Parsed("0")->is_string());
}

TEST(JsonValueTest, RawIsTheTextWithoutSpaceAround) {
  EXPECT_EQ(Parsed(" {\"a\" : [1, 2]}\n")->raw(), "{\"a\" : [1, 2]}");
  EXPECT_EQ(Parsed(" \"a b\" ")->raw(), "\"a b\"");
  EXPECT_EQ(Parsed("\t-1.50\t")->raw(), "-1.50");
}

TEST(JsonValueTest, RawStringKeepsEscapes) {
  EXPECT_THAT(Parsed(R"("a\"b\\")")->raw_string(), Optional(Eq(R"(a\"b\\)")));
  EXPECT_THAT(Parsed("\"\"")->raw_string(), Optional(Eq("")));
  EXPECT_EQ(Parsed("12")->raw_string(), std::nullopt);
}

TEST(JsonValueTest, WholeNumbersMustFit) {
  EXPECT_EQ(Parsed("42")->AsInt(), 42);
  EXPECT_EQ(Parsed("\"42\"")->AsInt(), 42);
  EXPECT_EQ(Parsed("-9223372036854775808")->AsInt(),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Parsed("9223372036854775808")->AsInt(), std::nullopt);
  for (const char* text :
       {"1.5", "1e3", "true", "null", "\"\"", "\"4 2\"", "[1]", "{}", "0x10"}) {
    EXPECT_EQ(Parsed(text)->AsInt(), std::nullopt) << text;
  }
}

TEST(JsonValueTest, DoublesMustBeFinite) {
  EXPECT_EQ(Parsed("1.5e2")->AsDouble(), 150);
  EXPECT_EQ(Parsed("\"0.25\"")->AsDouble(), 0.25);
  EXPECT_EQ(Parsed("7")->AsDouble(), 7);
  for (const char* text : {"NaN", "\"nan\"", "Infinity", "-inf", "1e999",
                           "\"\"", "abc", "1.5x", "[1]"}) {
    EXPECT_EQ(Parsed(text)->AsDouble(), std::nullopt) << text;
  }
}

/// Keys and raw values in order, ending with "!" if the syntax is broken.
std::vector<std::string> Members(std::string_view text) {
  std::vector<std::string> found;
  const Parsed parsed(text);
  const bool good =
      parsed->ForEachMember([&](std::string_view key, JsonValue value) {
        found.push_back(std::string(key) + "=" + std::string(value.raw()));
      });
  if (!good) {
    found.emplace_back("!");
  }
  return found;
}

TEST(JsonValueTest, MembersComeInOrderWithTheirRawKeys) {
  EXPECT_THAT(Members(R"({"a": 1, "b\n": {"c": [2, {}]}, "a": "x"})"),
              ElementsAre("a=1", R"(b\n={"c": [2, {}]})", R"(a="x")"));
  EXPECT_THAT(Members("{}"), ElementsAre());
}

TEST(JsonValueTest, BrokenObjectsSaySo) {
  EXPECT_THAT(Members("[1]"), ElementsAre("!"));
  EXPECT_THAT(Members("{1: 2}"), ElementsAre("!"));
  EXPECT_THAT(Members(R"({"a" 1})"), ElementsAre("!"));
  EXPECT_THAT(Members(R"({"a": 1 "b": 2})"), ElementsAre("a=1", "!"));
  EXPECT_THAT(Members(R"({"a": 1,})"), ElementsAre("a=1", "!"));
  EXPECT_THAT(Members(R"({"a": 1]})"), ElementsAre("a=1", "!"));
}

std::vector<std::string> Elements(std::string_view text) {
  std::vector<std::string> found;
  const Parsed parsed(text);
  const bool good = parsed->ForEachElement(
      [&](JsonValue value) { found.emplace_back(value.raw()); });
  if (!good) {
    found.emplace_back("!");
  }
  return found;
}

TEST(JsonValueTest, ElementsComeInOrder) {
  EXPECT_THAT(Elements(R"([1, [2, 3], "x", {"a": []}])"),
              ElementsAre("1", "[2, 3]", "\"x\"", R"({"a": []})"));
  EXPECT_THAT(Elements("[]"), ElementsAre());
}

TEST(JsonValueTest, BrokenArraysSaySo) {
  EXPECT_THAT(Elements("{}"), ElementsAre("!"));
  EXPECT_THAT(Elements("[1 2]"), ElementsAre("1", "!"));
  EXPECT_THAT(Elements("[1}"), ElementsAre("1", "!"));
}

TEST(JsonUnescapeTest, UndoesEscapes) {
  std::string buffer;
  EXPECT_EQ(JsonUnescape(R"(\"\\\/\b\f\n\r\tx)", buffer), "\"\\/\b\f\n\r\tx");
  EXPECT_EQ(JsonUnescape(R"(\u0041\u00b5\u20AC)", buffer),
            "A\xC2\xB5\xE2\x82\xAC");
  EXPECT_EQ(JsonUnescape(R"(\uD83D\uDE00)", buffer), "\xF0\x9F\x98\x80");
}

TEST(JsonUnescapeTest, TextWithoutEscapesIsNotCopied) {
  std::string buffer;
  const std::string_view raw = "aten::add";
  EXPECT_EQ(JsonUnescape(raw, buffer).data(), raw.data());
}

TEST(JsonUnescapeTest, BrokenEscapesBecomeTheReplacementCharacter) {
  const std::string replacement = "\xEF\xBF\xBD";
  std::string buffer;
  EXPECT_EQ(JsonUnescape(R"(\x)", buffer), replacement);
  EXPECT_EQ(JsonUnescape(R"(\u12)", buffer), replacement + "12");
  EXPECT_EQ(JsonUnescape(R"(\u+123)", buffer), replacement + "+123");
  EXPECT_EQ(JsonUnescape(R"(\uD83Dx)", buffer), replacement + "x");
  EXPECT_EQ(JsonUnescape(R"(\uDE00)", buffer), replacement);
  EXPECT_EQ(JsonUnescape(R"(\uD83D\u0041)", buffer), replacement + "A");
}

TEST(ParseMicrosecondsTest, KeepsNanosecondsExactly) {
  EXPECT_EQ(ParseMicroseconds("0"), 0);
  EXPECT_EQ(ParseMicroseconds("12"), 12'000);
  EXPECT_EQ(ParseMicroseconds("1.5"), 1'500);
  EXPECT_EQ(ParseMicroseconds("-0.001"), -1);
  // A double has no room for these digits: 2^53 ns are 104 days.
  EXPECT_EQ(ParseMicroseconds("1718600000000123.457"), 1718600000000123457);
  EXPECT_EQ(ParseMicroseconds("2e3"), 2'000'000);
  EXPECT_EQ(ParseMicroseconds("0.0014"), 1);  // Rounded.
}

TEST(ParseMicrosecondsTest, RefusesTextThatIsNotATime) {
  for (const char* text :
       {"", "x", "1x", "1.x", "1.2x", "nan", "inf", "-", "1e300",
        "9223372036854775807", "99999999999999999999", "+1", " 1"}) {
    EXPECT_EQ(ParseMicroseconds(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace stepcast
