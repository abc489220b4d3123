// Tests of writing JSON.
#include "base/json/json_write.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace stepcast {
namespace {

TEST(JsonWriterTest, IndentsAndKeepsTheOrderOfCalls) {
  JsonWriter json;
  json.BeginObject();
  json.Key("z").Int(1);
  json.Key("a").BeginArray().String("x").Bool(true).Null().EndArray();
  json.Key("empty").BeginArray().EndArray();
  json.Key("none").BeginObject().EndObject();
  json.EndObject();
  EXPECT_EQ(json.Take(),
            "{\n"
            "  \"z\": 1,\n"
            "  \"a\": [\n"
            "    \"x\",\n"
            "    true,\n"
            "    null\n"
            "  ],\n"
            "  \"empty\": [],\n"
            "  \"none\": {}\n"
            "}\n");
}

TEST(JsonWriterTest, CompactHasNoSpace) {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginArray().BeginObject().Key("a").Int(-1).EndObject().Int(2);
  json.EndArray();
  EXPECT_EQ(json.Take(), R"([{"a":-1},2])");
}

std::string Number(double number) {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.Double(number);
  return json.Take();
}

TEST(JsonWriterTest, DoublesAreTheShortestTextThatReadsBack) {
  EXPECT_EQ(Number(0.1), "0.1");
  EXPECT_EQ(Number(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(Number(-5), "-5");
  EXPECT_EQ(Number(1e300), "1e+300");
}

TEST(JsonWriterTest, JsonHasNoInfinityAndNoNan) {
  EXPECT_EQ(Number(INFINITY), "null");
  EXPECT_EQ(Number(-INFINITY), "null");
  EXPECT_EQ(Number(NAN), "null");
}

std::string Fixed(double number, int decimals) {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.Fixed(number, decimals);
  return json.Take();
}

TEST(JsonWriterTest, FixedRoundsAndDropsTrailingZeros) {
  EXPECT_EQ(Fixed(1.2345, 3), "1.234");  // 1.2345 is just below the tie.
  EXPECT_EQ(Fixed(1.5, 3), "1.5");
  EXPECT_EQ(Fixed(100, 0), "100");
  EXPECT_EQ(Fixed(100, 3), "100");
  EXPECT_EQ(Fixed(-0.0001, 3), "0");
  EXPECT_EQ(Fixed(NAN, 3), "null");
}

TEST(JsonWriterTest, WholeNumbersKeepAllDigits) {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginArray();
  json.Int(std::numeric_limits<int64_t>::min());
  json.Int(std::numeric_limits<int64_t>::max());
  json.EndArray();
  EXPECT_EQ(json.Take(), "[-9223372036854775808,9223372036854775807]");
}

TEST(JsonQuotedTest, EscapesWhatJsonWantsEscaped) {
  EXPECT_EQ(JsonQuoted("a\"b\\c/\n\r\t"), R"("a\"b\\c/\n\r\t")");
  EXPECT_EQ(JsonQuoted("\x01\x1F\x7F"), R"("\u0001\u001f\u007f")");
  EXPECT_EQ(JsonQuoted("\xC2\xB5s"), "\"\xC2\xB5s\"");
  EXPECT_EQ(JsonQuoted(std::string("\0", 1)), R"("\u0000")");
}

TEST(JsonQuotedTest, InvalidUtf8BecomesTheReplacementCharacter) {
  EXPECT_EQ(JsonQuoted("a\xFF\xC2"), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonWriterDeathTest, MisuseStopsTheProgram) {
  JsonWriter unfinished;
  unfinished.BeginObject();
  EXPECT_DEATH(unfinished.Take(), "check failed");
  EXPECT_DEATH(unfinished.Key("a").EndObject(), "check failed");
  JsonWriter array;
  array.BeginArray();
  EXPECT_DEATH(array.Key("a"), "check failed");
}

}  // namespace
}  // namespace stepcast
