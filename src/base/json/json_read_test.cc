// Tests of reading documents record by record, whole, cut and broken.
#include "base/json/json_read.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/drip_source_testing.h"
#include "base/json/json_read_testing.h"

namespace stepcast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::array<std::string_view, 2> kRecordArrays = {"nodes", "events"};

struct Reading {
  std::vector<std::string> items{};  // "key=raw", records as "key[]=raw".
  std::string error{};
  JsonRecordReader::Counts counts{};
};

Reading ReadSource(ByteSource& source) {
  const JsonItems items = ReadItems(source, kRecordArrays);
  Reading reading{.error = items.error, .counts = items.counts};
  for (const JsonItems::Item& item : items.list) {
    reading.items.push_back(item.key + (item.is_record ? "[]=" : "=") +
                            item.raw);
  }
  return reading;
}

Reading ReadText(std::string_view text) {
  return ReadSource(*OpenMemory(text));
}

TEST(JsonRecordReaderTest, GivesMembersAndRecordsInOrder) {
  const Reading reading = ReadText(
      R"({"schema": 1, "nodes": [{"id": 1}, [2], "x"], "time": "now",
          "events": [], "other": [3, 4]} )");
  EXPECT_EQ(reading.error, "");
  EXPECT_THAT(reading.items,
              ElementsAre("schema=1", R"(nodes[]={"id": 1})", "nodes[]=[2]",
                          R"(nodes[]="x")", R"(time="now")", "other=[3, 4]"));
  EXPECT_FALSE(reading.counts.truncated);
  EXPECT_EQ(reading.counts.trailing_bytes, 0);
}

TEST(JsonRecordReaderTest, ATopLevelArrayIsRecordsWithoutAName) {
  EXPECT_THAT(ReadText("[1, {}]").items, ElementsAre("[]=1", "[]={}"));
}

TEST(JsonRecordReaderTest, EmptyDocumentsHaveNoItems) {
  EXPECT_THAT(ReadText("{}").items, IsEmpty());
  EXPECT_THAT(ReadText(" [ ] ").items, IsEmpty());
}

TEST(JsonRecordReaderTest, ARecordArrayThatIsNotAnArrayIsAMember) {
  EXPECT_THAT(ReadText(R"({"nodes": {"a": 1}})").items,
              ElementsAre(R"(nodes={"a": 1})"));
}

TEST(JsonRecordReaderTest, TextThatIsNotADocumentFails) {
  for (const char* text : {"", "  ", "text", "12", "\"a\"", "\x01\x02", "}"}) {
    EXPECT_THAT(ReadText(text).error,
                HasSubstr("expected a JSON object or array"))
        << text;
  }
}

TEST(JsonRecordReaderTest, BrokenSyntaxNamesThePlace) {
  EXPECT_EQ(ReadText(R"({"a": 1 "b": 2})").error,
            R"(byte 8: expected ',' or '}', found '"b": 2}')");
  EXPECT_THAT(ReadText(R"({1: 2})").error, HasSubstr("a key in quotes"));
  EXPECT_THAT(ReadText(R"({"a" 1})").error, HasSubstr("':' after a key"));
  EXPECT_THAT(ReadText(R"({"nodes": [1 2]})").error, HasSubstr("',' or ']'"));
}

TEST(JsonRecordReaderTest, AValueMustBeAValue) {
  for (const char* text :
       {"[1,]", "[,1]", "[}", "[:]", R"({"a":})", R"({"a":,"b":1})",
        R"({"nodes":[,]})", R"({"a"::1})"}) {
    EXPECT_THAT(ReadText(text).error, HasSubstr("expected a value")) << text;
  }
}

TEST(JsonRecordReaderTest, WhatFollowsTheDocumentIsCounted) {
  EXPECT_EQ(ReadText("{} {\"a\": 1}").counts.trailing_bytes, 8);
  EXPECT_EQ(ReadText("[1]x").counts.trailing_bytes, 1);
  EXPECT_EQ(ReadText("[1]\n\n").counts.trailing_bytes, 0);
}

TEST(JsonRecordReaderTest, ACutDocumentGivesWhatCameBeforeTheCut) {
  const Reading reading =
      ReadText(R"({"schema": 1, "nodes": [{"id": 1}, {"id": )");
  EXPECT_EQ(reading.error, "");
  EXPECT_THAT(reading.items, ElementsAre("schema=1", R"(nodes[]={"id": 1})"));
  EXPECT_TRUE(reading.counts.truncated);
}

// The whole document has 5 items; any prefix has a prefix of them.
TEST(JsonRecordReaderTest, CutAtAnyByteIsTruncatedNeverWrong) {
  const std::string text =
      "{\"a\": -1.5e3, \"nodes\": [{\"k\": \"\xC2\xB5\\\"\\\\\"}, 12, "
      "[null]], \"b\": true}";
  const Reading whole = ReadText(text);
  ASSERT_THAT(whole.items, SizeIs(5));
  for (size_t size = 1; size < text.size(); ++size) {
    const Reading cut = ReadText(std::string_view(text).substr(0, size));
    EXPECT_EQ(cut.error, "") << size;
    EXPECT_TRUE(cut.counts.truncated) << size;
    ASSERT_LE(cut.items.size(), whole.items.size());
    EXPECT_TRUE(
        std::equal(cut.items.begin(), cut.items.end(), whole.items.begin()))
        << size;
  }
}

TEST(JsonRecordReaderTest, RawControlCharactersInStringsAreSpaces) {
  const Reading reading = ReadText("{\"a\": \"x\ny\tz\", \"b\":\n1}");
  EXPECT_THAT(reading.items, ElementsAre("a=\"x y z\"", "b=1"));
  EXPECT_EQ(reading.counts.control_characters, 2);
}

TEST(JsonRecordReaderTest, InvalidUtf8IsQuestionMarks) {
  const Reading reading = ReadText("{\"a\": \"\xFF\xC2\xB5\xE2\x82\"}");
  EXPECT_THAT(reading.items, ElementsAre("a=\"?\xC2\xB5??\""));
  EXPECT_EQ(reading.counts.invalid_utf8, 3);
  EXPECT_EQ(reading.counts.control_characters, 0);
}

TEST(JsonRecordReaderTest, AnIoErrorIsReturned) {
  DripSource source("[1, 2", 100, true);
  EXPECT_EQ(ReadSource(source).error, "the disk is gone");
}

/// A record with every kind of byte that a window's edge must not cut.
std::string Record(int number) {
  return "{\"n\": \"\xE2\x82\xAC\\\\\\\"" + std::to_string(number) +
         "\", \"t\": 123456.789}";
}

// A window holds a megabyte; the padding puts each byte of a record in turn at
// its edge.
TEST(JsonRecordReaderTest, WindowEdgesCutNothing) {
  constexpr size_t kWindow = size_t{1} << 20;
  constexpr int kRecords = 100;
  for (size_t shift = 0; shift < Record(10).size() + 2; ++shift) {
    std::string text = "{\"pad\": \"" +
                       std::string(kWindow - 2000 - shift, 'p') +
                       "\", \"events\": [" + Record(0);
    for (int i = 1; i < kRecords; ++i) {
      text += ", " + Record(i);
    }
    text += "], \"last\": 7}";
    ASSERT_GT(text.size(), kWindow + 1000);
    const Reading reading = ReadText(text);
    ASSERT_EQ(reading.error, "") << shift;
    ASSERT_THAT(reading.items, SizeIs(kRecords + 2)) << shift;
    for (int i = 0; i < kRecords; ++i) {
      ASSERT_EQ(reading.items[static_cast<size_t>(i) + 1],
                "events[]=" + Record(i))
          << shift;
    }
    EXPECT_EQ(reading.items.back(), "last=7");
    EXPECT_EQ(reading.counts.invalid_utf8, 0) << shift;
    EXPECT_FALSE(reading.counts.truncated);
  }
}

TEST(JsonRecordReaderTest, OddBytesAreCountedOnceAcrossWindows) {
  std::string text = "[";
  for (int i = 0; i < 100'000; ++i) {
    text += "\"a\nb\xFF, some more text\",";
  }
  const Reading reading = ReadText(text + "0]");
  ASSERT_EQ(reading.error, "");
  EXPECT_THAT(reading.items, SizeIs(100'001));
  EXPECT_EQ(reading.counts.control_characters, 100'000);
  EXPECT_EQ(reading.counts.invalid_utf8, 100'000);
}

TEST(JsonRecordReaderTest, AValueLargerThanAWindowComesWhole) {
  const std::string value = "\"" + std::string(5'000'000, 'v') + "\"";
  const Reading reading = ReadText("{\"a\": " + value + ", \"b\": 1}");
  ASSERT_THAT(reading.items, SizeIs(2));
  EXPECT_EQ(reading.items[0], "a=" + value);
}

TEST(JsonRecordReaderTest, SmallReadsGiveTheSame) {
  const std::string text =
      R"({"schema": 1, "nodes": [{"id": 1}, [2], "x"], "time": "now"})";
  for (size_t step = 1; step < 9; ++step) {
    DripSource source(text, step);
    EXPECT_EQ(ReadSource(source).items, ReadText(text).items) << step;
  }
}

TEST(JsonRecordReaderTest, AMillionDeepNestIsSurvived) {
  const std::string open(1'000'000, '[');
  const std::string close(1'000'000, ']');
  EXPECT_TRUE(ReadText(open).counts.truncated);
  const Reading whole = ReadText(open + close);
  EXPECT_EQ(whole.error, "");
  EXPECT_THAT(whole.items, SizeIs(1));
}

// Any byte changed to any of some nasty ones: an error, fewer items or other
// ones, but an end.
TEST(JsonRecordReaderTest, AnyDamagedByteIsSurvived) {
  const std::string text =
      R"({"a": "x\n", "nodes": [{"id": 1}, -2.5], "b": null})";
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char damage :
         {'{', '}', '[', ']', ',', ':', '"', '\\', '\0', '\xFF', ' ', '1'}) {
      std::string damaged = text;
      damaged[at] = damage;
      EXPECT_THAT(ReadText(damaged).items.size(), testing::Le(12U));
    }
  }
}

}  // namespace
}  // namespace stepcast
